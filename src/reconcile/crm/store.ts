// Where the CRM's users and their reconciliation are kept. On PostgreSQL with everything else. On SQLite in a file of their own
// beside the store: a comparison reads millions of rows in a thread, for which a file must be open to a second reader, and the
// store is not; and what is imported by the million stands in no message's way.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database, Migration } from '../../store/database.ts'
import { openDatabase } from '../../store/open-database.ts'
import { correctionMigrations } from '../correct.ts'
import { discrepancyMigrations } from '../discrepancies.ts'
import { runMigrations } from '../runs.ts'
import { crmMigrations } from './users.ts'

export const crmStoreMigrations: readonly Migration[] = [
  ...crmMigrations,
  ...runMigrations,
  ...discrepancyMigrations,
  ...correctionMigrations,
]

/**
 * The file of the CRM beside a SQLite store; undefined: it is in the store.
 *
 * @example crmFileOf('sqlite:/data/platform.db') // 'sqlite:/data/platform-crm.db'
 */
export function crmFileOf(store: string): string | undefined {
  if (!store.startsWith('sqlite:')) return undefined
  return store.replace(/(\.[^./\\]+)?$/, '-crm$1')
}

export interface CrmStore {
  readonly database: Database
  close(): Promise<void>
}

/** @param main the platform's database, open: on SQLite that is what makes sure that nobody else has these files */
export async function openCrmStore(store: string, main: Database): Promise<CrmStore> {
  const file = crmFileOf(store)
  if (file === undefined) return { database: main, close: async () => {} }
  const memory = store === 'sqlite::memory:' ? await mkdtemp(join(tmpdir(), 'bellwire-crm-')) : undefined
  const database = await openDatabase(memory ? `sqlite:${join(memory, 'crm.db')}` : file, {
    migrations: crmStoreMigrations,
    shared: true,
  })
  return {
    database,
    async close() {
      await database.close()
      if (memory) await rm(memory, { recursive: true, force: true })
    },
  }
}
