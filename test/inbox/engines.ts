import test, { type TestContext } from 'node:test'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { sqliteUrl } from './open-inbox.ts'

const skip = await withoutPostgres()

/** Runs a test on each engine, with the address of an empty store. */
export function onEachEngine(title: string, run: (t: TestContext, store: string) => Promise<void>): void {
  test(`${title} (sqlite)`, async (t) => run(t, await sqliteUrl(t)))
  onPostgres(title, run)
}

export function onPostgres(title: string, run: (t: TestContext, store: string) => Promise<void>): void {
  test(`${title} (postgres)`, { skip }, async (t) => run(t, await freshSchema()))
}
