// Erasures are repeated after a restore: a backup has the data of people who were erased after it. The list of erasures is kept
// outside of the store. It has digests instead of user ids, so the users of the restored store are compared with it.

import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { erasedPerson } from './digest.ts'
import { createSecret, type ListedErasure, secretOf } from './erasures.ts'

const insertErasures = statement({
  name: 'repeat_erasures',
  columns: { id: 'text', brand: 'text', user_id: 'text', digest: 'text', at: 'bigint', by: 'text', done_at: 'bigint' },
  text: (rows) => `
    insert into erasures (id, brand, user_id, digest, at, requested_by, done_at, counts, waiting)
    select r.id, r.brand, r.user_id, r.digest, r.at, r.by, r.done_at, '{}', 0 from ${rows} r where true
    on conflict (id) do nothing`,
})

const selectTables = statement<{ name: string }>({
  name: 'tables_with_users',
  columns: {},
  text: () => `
    select m.name as name from sqlite_master m join pragma_table_info(m.name) c on c.name = 'user_id'
    where m.type = 'table' order by m.name`,
})

const selectUsers = (table: string) =>
  statement<{ user_id: string }>({
    name: `users_of_${table}`,
    columns: {},
    text: () => `select distinct user_id from ${table} where user_id is not null`,
  })

/**
 * Stores the erasures that a restored SQLite store does not have. The side erases the people when it starts, and recognizes
 * events about the others.
 *
 * @param database the store of the erasures
 * @param stores all files of the side
 * @param by for the reports
 * @returns the number of erasures whose user has data in the store
 * @throws Error if the list is of another store
 */
export async function repeatErasures(
  database: Database,
  stores: readonly Database[],
  listed: readonly ListedErasure[],
  by: string,
): Promise<number> {
  const secrets = new Map(listed.map(({ brand, secret }) => [brand, secret]))
  for (const [brand, secret] of secrets) {
    await createSecret(database, brand, secret)
    if ((await secretOf(database, brand)) !== secret)
      throw new Error(`the list of erasures is of another store: brand ${brand} has another secret`)
  }
  const users = new Map<string, string>()
  const digests = new Set(listed.map(({ brand, digest }) => `${brand} ${digest}`))
  for (const userId of await readUsers(stores))
    for (const [brand, secret] of secrets) {
      const digest = `${brand} ${erasedPerson({ brand, userId }, secret, 0).userDigest}`
      if (digests.has(digest)) users.set(digest, userId)
    }
  const rows = listed.map(({ id, brand, digest, at }) => {
    const userId = users.get(`${brand} ${digest}`) ?? null
    return [id, brand, userId, digest, at, by, userId === null ? at : null]
  })
  await database.commit([op(insertErasures, rows)])
  return rows.filter(([, , userId]) => userId !== null).length
}

async function readUsers(stores: readonly Database[]): Promise<ReadonlySet<string>> {
  const users = new Set<string>()
  for (const store of stores)
    for (const { name } of await store.read(op(selectTables, [[]])))
      for (const { user_id } of await store.read(op(selectUsers(name), [[]]))) users.add(user_id)
  return users
}
