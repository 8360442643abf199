import type { Database, Op } from './database.ts'
import { resultCode } from './sqlite-file.ts'

/**
 * Commits operations, one of which breaks a constraint of its table if the change is not possible: for example because a row with
 * its key exists. Then none of them is committed.
 *
 * @returns false: nothing was changed
 */
export async function commitIfPossible(database: Database, ops: readonly Op[]): Promise<boolean> {
  try {
    await database.commit(ops)
    return true
  } catch (error) {
    if (isConstraintError(error)) return false
    throw error
  }
}

/** PostgreSQL: SQLSTATE of class 23. SQLite: SQLITE_CONSTRAINT. */
const isConstraintError = (error: unknown): boolean =>
  /^23/.test(String((error as { readonly code?: unknown }).code)) || resultCode(error) === 19
