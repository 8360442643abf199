import { openDatabase } from '../../src/base/store/open-database.ts'
import { op } from '../../src/base/store/statement.ts'
import { mostUnknownStatuses } from '../../src/subjects/conversions/status-quota.ts'
import { conversionMigrations, insertAwaited } from '../../src/subjects/conversions/tables.ts'

/** Stores as many identifiers without a message as a lane may have, in a new store. */
export async function fillAwaited(store: string, lane: string): Promise<void> {
  const database = await openDatabase(store, { migrations: conversionMigrations })
  const rows = Array.from({ length: mostUnknownStatuses }, (_, n) => [lane, `unknown-${n}`, Date.now()])
  await database.commit([op(insertAwaited, rows)])
  await database.close()
}
