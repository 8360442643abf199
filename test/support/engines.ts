import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { freshSchema, withoutPostgres } from './services/postgres.ts'
import { temporary } from './sides.ts'

const skip = await withoutPostgres()

/** Runs a test on SQLite and on PostgreSQL, with the address of an empty store. */
export function onEachEngine(title: string, run: (t: TestContext, store: string) => Promise<void>): void {
  onSqlite(title, run)
  onPostgres(title, run)
}

export function onSqlite(title: string, run: (t: TestContext, store: string) => Promise<void>): void {
  test(`${title} (sqlite)`, async (t) => run(t, `sqlite:${join(await temporary(t), 'store.db')}`))
}

export function onPostgres(title: string, run: (t: TestContext, store: string) => Promise<void>): void {
  test(`${title} (postgres)`, { skip }, async (t) => run(t, await freshSchema()))
}
