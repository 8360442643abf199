// The tables of the inbox, which no other file reads or writes.
//
// inbox        one row for each on-site notification.
// inbox_users  the last number of each user. An insert locks the row of the user until the commit, so the numbers of a user
//              become visible in order, on PostgreSQL too. A client that has number 7 has all numbers before it, and a cut
//              stream resumes by number alone. Writers for different users do not wait for each other.

import type { Database, Migration, Op, Value } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'

export const inboxMigrations: readonly Migration[] = [
  {
    name: 'inbox/1',
    statements: ({ key }) => [
      `create table inbox_users (
         brand ${key} not null, user_id ${key} not null, last bigint not null,
         primary key (brand, user_id))`,
      `create table inbox (
         brand ${key} not null, user_id ${key} not null, seq bigint not null, ref ${key} not null, id ${key} not null,
         title text, body text, image_url text, url text, data text, created_at bigint not null,
         primary key (brand, user_id, seq))`,
      'create unique index inbox_ref on inbox (brand, ref)',
      'create index inbox_created_at on inbox (created_at)',
    ],
  },
]

export interface NewRow {
  readonly brand: string
  readonly userId: string
  readonly ref: string
  readonly id: string
  readonly title: string | null
  readonly body: string | null
  readonly imageUrl: string | null
  readonly url: string | null
  /** JSON text. */
  readonly data: string | null
  readonly createdAt: number
}

export interface Row {
  readonly brand: string
  readonly user_id: string
  readonly seq: number
  readonly ref: string
  readonly id: string
  readonly title: string | null
  readonly body: string | null
  readonly image_url: string | null
  readonly url: string | null
  readonly data: string | null
  readonly created_at: number
}

/** The two operations that add a notification. Commit them together. Adding a `ref` again adds no notification. */
export function addOps(row: NewRow): readonly [Op, Op] {
  const { brand, userId, ref, id, title, body, imageUrl, url, data, createdAt } = row
  return [
    { statement: reserveNumbers, rows: [[brand, userId]] },
    { statement: insert, rows: [[brand, userId, ref, id, title, body, imageUrl, url, data, createdAt]] },
  ]
}

// Ordered, so that two processes lock the rows of the same users in the same order.
const reserveNumbers = statement({
  name: 'count_up_inbox_users',
  rank: 40,
  columns: { brand: 'text', user_id: 'text' },
  text: (rows) => `
    insert into inbox_users (brand, user_id, last)
    select r.brand, r.user_id, count(*) from ${rows} r where true group by r.brand, r.user_id order by r.brand, r.user_id
    on conflict (brand, user_id) do update set last = inbox_users.last + excluded.last`,
})

const insert = statement({
  name: 'insert_inbox',
  rank: 41,
  columns: {
    brand: 'text',
    user_id: 'text',
    ref: 'text',
    id: 'text',
    title: 'text',
    body: 'text',
    image_url: 'text',
    url: 'text',
    data: 'text',
    created_at: 'bigint',
  },
  text: (rows) => `
    insert into inbox (brand, user_id, seq, ref, id, title, body, image_url, url, data, created_at)
    select r.brand, r.user_id,
      u.last - count(*) over (partition by r.brand, r.user_id)
             + row_number() over (partition by r.brand, r.user_id order by r.created_at, r.ref),
      r.ref, r.id, r.title, r.body, r.image_url, r.url, r.data, r.created_at
    from ${rows} r join inbox_users u on u.brand = r.brand and u.user_id = r.user_id
    where true
    on conflict (brand, ref) do nothing`,
})

/** A page of one user's inbox, newest first. */
export function pageOp(brand: string, userId: string, before: number, max: number): Op<Row> {
  return { statement: selectPage, rows: [[brand, userId, before, max]] }
}

const selectPage = statement<Row>({
  name: 'select_inbox_page',
  rank: 90,
  columns: { brand: 'text', user_id: 'text', before: 'bigint', most: 'bigint' },
  text: (rows) => `
    select i.brand, i.user_id, i.seq, i.ref, i.id, i.title, i.body, i.image_url, i.url, i.data, i.created_at
    from ${rows} r join inbox i on i.brand = r.brand and i.user_id = r.user_id and i.seq < r.before
    order by i.seq desc limit (select max(m.most) from ${rows} m)`,
})

/** The number of a user's last notification; no row for a user who never had one. */
export function lastNumberOp(brand: string, userId: string): Op<{ last: number }> {
  return { statement: selectLast, rows: [[brand, userId]] }
}

const selectLast = statement<{ last: number }>({
  name: 'select_inbox_last',
  rank: 90,
  columns: { brand: 'text', user_id: 'text' },
  text: (rows) => `select u.last from ${rows} r join inbox_users u on u.brand = r.brand and u.user_id = r.user_id`,
})

/** A notification with after < seq <= upto. A user without one has one row with `last`, in which seq is null. */
export interface NewNotification extends Omit<Row, 'seq'> {
  readonly last: number
  readonly seq: number | null
}

export interface SeqRange {
  readonly brand: string
  readonly userId: string
  readonly after: number
  readonly upto: number
}

/** The notifications in these ranges, and the last number of each user, from one snapshot. */
export function newNotificationsOp(ranges: readonly SeqRange[]): Op<NewNotification> {
  const rows: Value[][] = ranges.map(({ brand, userId, after, upto }) => [brand, userId, after, upto])
  return { statement: selectNew, rows }
}

const selectNew = statement<NewNotification>({
  name: 'select_inbox_news',
  rank: 90,
  columns: { brand: 'text', user_id: 'text', after: 'bigint', upto: 'bigint' },
  text: (rows) => `
    select r.brand, r.user_id, coalesce(u.last, 0) as last,
      i.seq, i.ref, i.id, i.title, i.body, i.image_url, i.url, i.data, i.created_at
    from ${rows} r
    left join inbox_users u on u.brand = r.brand and u.user_id = r.user_id
    left join inbox i on i.brand = r.brand and i.user_id = r.user_id and i.seq > r.after and i.seq <= r.upto
    order by r.brand, r.user_id, i.seq`,
})

const deleteOfUser = statement<{ user_id: string }>({
  name: 'delete_inbox_of_user',
  rank: 94,
  columns: { brand: 'text', user_id: 'text' },
  route: 'user_id',
  text: (rows) => `
    delete from inbox where (brand, user_id) in (select r.brand, r.user_id from ${rows} r) returning user_id`,
})

/** Deletes all notifications of a user. @returns the number of notifications */
export async function eraseNotifications(database: Database, brand: string, userId: string): Promise<number> {
  const [gone] = await database.commit([op(deleteOfUser, [[brand, userId]])])
  return gone.length
}

/** Deletes a bounded number of notifications older than `before`. Call it until it returns 0. Numbers are never reused. */
export async function forgetNotifications(database: Database, before: number, max = 1_000): Promise<number> {
  const [gone] = await database.commit([op(deleteOld, [[before, max]])])
  return gone.length
}

const deleteOld = statement<{ ref: string }>({
  name: 'delete_old_inbox',
  rank: 95,
  columns: { before: 'bigint', most: 'bigint' },
  text: (rows) => `
    delete from inbox where (brand, ref) in (
      select i.brand, i.ref from inbox i
      where i.created_at < (select min(r.before) from ${rows} r)
      order by i.created_at limit (select max(m.most) from ${rows} m))
    returning ref`,
})
