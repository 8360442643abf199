// Erasures are repeated after a restore: a backup has the data of people who were erased after it. The list of erasures is kept
// outside of the store. It has digests instead of user ids, so the users of the restored store are compared with it.

import { readPages } from '../runtime/read-pages.ts'
import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { erasedPerson } from './digest.ts'
import { createSecret, erasureTopic, type ListedErasure, secretOf } from './erasures.ts'

const insertErasures = statement({
  name: 'repeat_erasures',
  columns: { id: 'text', brand: 'text', user_id: 'text', digest: 'text', at: 'bigint', by: 'text', done_at: 'bigint' },
  text: (rows) => `
    insert into erasures (id, brand, user_id, digest, at, requested_by, done_at, counts, waiting)
    select r.id, r.brand, r.user_id, r.digest, r.at, r.by, r.done_at, '{}', 0 from ${rows} r where true
    on conflict (id) do nothing`,
})

/** SQL: the tables of a store with a column of users. */
const tablesWithUsers = {
  sqlite: `
    select m.name as name from sqlite_master m join pragma_table_info(m.name) c on c.name = 'user_id'
    where m.type = 'table' order by m.name`,
  postgres: `
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id'
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not a.attisdropped
    order by c.relname`,
} as const

const pageUsers = 10_000

/**
 * Stores the erasures that a restored store does not have. The side erases the people when it starts, and recognizes
 * events about the others.
 *
 * @param database the store of the erasures
 * @param stores the database, and on SQLite the file of the CRM
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
  for (const store of stores)
    for await (const userId of readUsers(store))
      for (const [brand, secret] of secrets) {
        const digest = `${brand} ${erasedPerson({ brand, userId }, secret, 0).userDigest}`
        if (digests.has(digest)) users.set(digest, userId)
      }
  const rows = listed.map(({ id, brand, digest, at }) => {
    const userId = users.get(`${brand} ${digest}`) ?? null
    return [id, brand, userId, digest, at, by, userId === null ? at : null]
  })
  await database.commit([op(insertErasures, rows), database.wake(erasureTopic)])
  return rows.filter(([, , userId]) => userId !== null).length
}

/** The users of all tables, page by page. The database sorts them on its disk: a store may have millions. */
async function* readUsers(database: Database): AsyncGenerator<string> {
  const users = await database.scratchTable({ user_id: 'text' })
  try {
    for (const { name } of await users.run<{ name: string }>(tablesWithUsers[database.engine]))
      await users.run(
        `insert into ${users.name} select distinct t.user_id from ${name} t where t.user_id is not null on conflict do nothing`,
      )
    const query = `select user_id from ${users.name} where user_id > $1 order by user_id limit ${pageUsers}`
    const pages = readPages('user_id', '', pageUsers, (after) => users.run<{ user_id: string }>(query, [after]))
    for await (const page of pages) for (const { user_id: userId } of page) yield userId
  } finally {
    await users.close()
  }
}
