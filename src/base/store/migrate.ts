import { clock } from '../runtime/clock.ts'
import type { Dialect, Migration } from './database.ts'
import { createProbeTable } from './write-probe.ts'

export interface Migrator {
  readonly dialect: Dialect
  /** Runs the statements in one transaction. */
  readonly run: (statements: readonly string[]) => Promise<void>
  readonly names: () => Promise<readonly string[]>
}

/** In the place of a migration: the rows of the store live in another database now. */
export const movedAway = 'moved'
/** Records the number of a store. It is not applied any more when the platform has one store again. */
const numbering = /^queue\/store-\d+$/

/**
 * Applies the pending migrations in order, each in its own transaction. The caller holds the lock.
 *
 * @param whole they are all migrations of the store: a store with others is refused
 * @returns their names
 */
export async function migrate(
  migrations: readonly Migration[],
  { dialect, run, names }: Migrator,
  whole = false,
): Promise<string[]> {
  await run([
    'create table if not exists migrations (name text primary key, at bigint not null)',
    createProbeTable(dialect.key),
  ])
  const existing = new Set(await names())
  if (existing.has(movedAway))
    throw new Error('the store was moved to PostgreSQL with `bellwire move`: write the new address in `store`')
  const later = [...existing].find((name) => !numbering.test(name) && !migrations.some((each) => each.name === name))
  if (whole && later !== undefined)
    throw new Error(
      `the store was changed by a later version of Bellwire (migration ${later}): install that version, or restore a backup from before the upgrade`,
    )
  const applied: string[] = []
  for (const { name, statements } of migrations) {
    if (existing.has(name)) continue
    try {
      await run([
        ...statements(dialect),
        `insert into migrations (name, at) values ('${name.replaceAll("'", "''")}', ${clock.now()})`,
      ])
    } catch (error) {
      throw new Error(`Migration ${name} could not be applied: ${(error as Error).message}`, { cause: error })
    }
    existing.add(name)
    applied.push(name)
  }
  return applied
}
