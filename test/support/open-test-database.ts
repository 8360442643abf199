import type { TestContext } from 'node:test'
import type { Database } from '../../src/base/store/database.ts'
import { type OpenOptions, openDatabase } from '../../src/base/store/open-database.ts'

/** Opens a database until the test ends. */
export async function openTestDatabase(t: TestContext, url: string, options: OpenOptions): Promise<Database> {
  const database = await openDatabase(url, options)
  t.after(() => database.close())
  return database
}
