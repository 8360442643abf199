// The database of the CRM's users and their reconciliation. On PostgreSQL it is the platform's store. On SQLite it is a separate
// file: a comparison reads it from a second thread, which the store does not allow, and a large import must not delay messages.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database, Migration } from '../../../base/store/database.ts'
import { openDatabase } from '../../../base/store/open-database.ts'
import { auditMigrations } from '../../audit/table.ts'
import { correctionMigrations } from '../corrections.ts'
import { discrepancyMigrations } from '../discrepancies.ts'
import { runMigrations } from '../runs.ts'
import { crmMigrations } from './users.ts'

export const crmStoreMigrations: readonly Migration[] = [
  ...crmMigrations,
  ...runMigrations,
  ...discrepancyMigrations,
  ...correctionMigrations,
  ...auditMigrations,
]

/**
 * The CRM's file next to a SQLite store. Undefined: the CRM is in the store itself.
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

/** @param main the platform's open database. On SQLite it also locks the CRM's file against other processes. */
export async function openCrmStore(store: string, main: Database): Promise<CrmStore> {
  const file = crmFileOf(store)
  if (file === undefined) return { database: main, close: async () => {} }
  const directory = store === 'sqlite::memory:' ? await mkdtemp(join(tmpdir(), 'bellwire-crm-')) : undefined
  const database = await openDatabase(directory ? `sqlite:${join(directory, 'crm.db')}` : file, {
    migrations: crmStoreMigrations,
    whole: true,
    shared: true,
  })
  return {
    database,
    async close() {
      await database.close()
      if (directory) await rm(directory, { recursive: true, force: true })
    },
  }
}
