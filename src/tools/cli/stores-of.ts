import type { Migration } from '../../base/store/database.ts'
import type { Config } from '../../sides/config/table.ts'

/** A file or a database of a side. */
export interface SideStore {
  readonly url: string
  readonly migrations: readonly Migration[]
}

/** The files and databases of each side, the one of the messages first. Undefined: the side is not configured. */
export const storesOf = {
  operator: async ({ operator }: Config): Promise<readonly SideStore[] | undefined> =>
    operator && [
      { url: operator.store, migrations: (await import('../../sides/operator/store.ts')).operatorMigrations },
    ],
  platform: async ({ platform }: Config): Promise<readonly SideStore[] | undefined> =>
    platform && (await import('../../sides/platform/stores.ts')).platformDatabases(platform),
}
