// Fills the CRM's tables directly, which is faster than importing millions of users.

import { DatabaseSync } from 'node:sqlite'
import { migrateDatabase } from '../../src/base/store/open-database.ts'
import { crmFileOf, crmStoreMigrations } from '../../src/subjects/reconcile/crm/store.ts'
import { fields } from '../../src/subjects/reconcile/crm/users.ts'
import { query } from './services/postgres.ts'

const columns = fields.flatMap((field) => [field, `${field}_at`]).join(', ')
/** The user is blocked; the other fields are false, with a time. */
const values = fields.map((field) => `${field === 'blocked' ? 1 : 0}, 1700000000000`).join(', ')

/**
 * Creates the users idOf(from) to idOf(to - 1) of this brand, all blocked. The store must not be open.
 *
 * @param store the platform's store
 */
export async function fillCrm(store: string, brand: string, from: number, to: number): Promise<void> {
  const file = crmFileOf(store)
  await migrateDatabase(file ?? store, crmStoreMigrations)
  if (file === undefined) {
    // In random order, like the rows of a table in production.
    await query(
      store,
      `insert into crm_users (brand, user_id, ${columns})
       select '${brand}', '1000000' || (10000000 + n), ${values} from generate_series(${from}, ${to - 1}) n order by md5(n::text)`,
    )
    await query(store, 'vacuum analyze crm_users')
    return
  }
  const db = new DatabaseSync(file.slice('sqlite:'.length))
  db.exec(`
    pragma synchronous = off; begin;
    with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${to - 1})
    insert into crm_users (brand, user_id, ${columns})
    select '${brand}', '1000000' || (10000000 + n), ${values} from numbers;
    commit`)
  db.close()
}
