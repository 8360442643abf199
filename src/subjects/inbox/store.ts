// The tables of the inbox, which no other folder reads or writes.
//
// inbox        one row for each on-site notification. `seq` is its number, and `changed` the number of its last change.
// inbox_users  the last number of each user. An insert or a change locks the row of the user until the commit, so the numbers of
//              a user become visible in order, on PostgreSQL too. A client that has number 7 has everything before it, and a
//              cut stream resumes by number alone. Writers for different users do not wait for each other.

import type { Database, Migration, Op } from '../../base/store/database.ts'
import { forgetOld } from '../../base/store/forget-old.ts'
import { op, rows, statement } from '../../base/store/statement.ts'

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
         changed bigint not null, expires_at bigint, ${markColumns.map((column) => `${column} bigint`).join(', ')},
         expiry_recorded bigint, primary key (brand, user_id, seq))`,
      'create unique index inbox_ref on inbox (brand, ref)',
      'create index inbox_created_at on inbox (created_at)',
      'create index inbox_changed on inbox (brand, user_id, changed)',
      'create index inbox_expires on inbox (expires_at) where expires_at is not null and expiry_recorded is null',
    ],
    brandTables: [
      { table: 'inbox_users', brand: 'brand' },
      { table: 'inbox', brand: 'brand' },
    ],
  },
]

export const markColumns = ['seen_at', 'read_at', 'clicked_at', 'dismissed_at', 'archived_at'] as const

/** The times of the marks, in epoch milliseconds; null: not marked. */
export type Marks = Readonly<Record<(typeof markColumns)[number], number | null>>

export interface Row extends Marks {
  readonly brand: string
  readonly user_id: string
  readonly seq: number
  readonly ref: string
  readonly id: string
  readonly title: string | null
  readonly body: string | null
  readonly image_url: string | null
  readonly url: string | null
  /** JSON text. */
  readonly data: string | null
  readonly created_at: number
  /** Epoch milliseconds. From then on the notification is not shown. */
  readonly expires_at: number | null
}

/** The columns of Row. */
export const shownColumns = [
  ...['brand', 'user_id', 'seq', 'ref', 'id', 'title', 'body', 'image_url', 'url', 'data', 'created_at', 'expires_at'],
  ...markColumns,
].map((column) => `i.${column}`)

const unexpired = '(i.expires_at is null or i.expires_at > r.now)'

/** The two operations that add a notification. Commit them together. Adding a `ref` again adds no notification. */
export function addOps(row: Omit<Row, 'seq' | keyof Marks>): readonly [Op, Op] {
  const { brand, user_id, ref, id, title, body, image_url, url, data, created_at, expires_at } = row
  return [
    reserveNumbersOp(brand, user_id, 1),
    op(insert, [[brand, user_id, ref, id, title, body, image_url, url, data, created_at, expires_at]]),
  ]
}

/** Locks the row of the user until the commit, and advances the last number by `count`. */
export function reserveNumbersOp(brand: string, userId: string, count: number): Op {
  return op(reserveNumbers, [[brand, userId, count]])
}

// Ordered, so that two processes lock the rows of the same users in the same order.
const reserveNumbers = statement('count_up_inbox_users', { brand: 'text', user_id: 'text', n: 'bigint' })`
  insert into inbox_users (brand, user_id, last)
  select r.brand, r.user_id, sum(r.n) from ${rows} r where true group by r.brand, r.user_id order by r.brand, r.user_id
  on conflict (brand, user_id) do update set last = inbox_users.last + excluded.last`

const insert = statement('insert_inbox', {
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
  expires_at: 'bigint',
})`
  insert into inbox (brand, user_id, seq, changed, ref, id, title, body, image_url, url, data, created_at, expires_at)
  select n.brand, n.user_id, n.number, n.number, n.ref, n.id, n.title, n.body, n.image_url, n.url, n.data, n.created_at, n.expires_at
  from (
    select r.*,
      u.last - count(*) over (partition by r.brand, r.user_id)
             + row_number() over (partition by r.brand, r.user_id order by r.created_at, r.ref) as number
    from ${rows} r join inbox_users u on u.brand = r.brand and u.user_id = r.user_id) n
  where true
  on conflict (brand, ref) do nothing`

/** The part of an inbox that a list shows. Dismissed and expired notifications are in neither part. */
export type InboxPart = 'inbox' | 'archive'

export interface PageRequest {
  readonly brand: string
  readonly userId: string
  readonly part: InboxPart
  /** Only notifications with a smaller number. */
  readonly before: number
  readonly most: number
  /** Epoch milliseconds. */
  readonly now: number
}

/** A page of one user's inbox, newest first. */
export function pageOp({ brand, userId, part, before, most, now }: PageRequest): Op<Row> {
  return op(selectPage, [[brand, userId, part === 'archive' ? 1 : 0, before, most, now]])
}

const selectPage = statement<Row>({
  name: 'select_inbox_page',
  columns: { brand: 'text', user_id: 'text', archived: 'bigint', before: 'bigint', most: 'bigint', now: 'bigint' },
  text: (rows) => `
    select ${shownColumns.join(', ')}
    from ${rows} r join inbox i on i.brand = r.brand and i.user_id = r.user_id and i.seq < r.before
    where i.dismissed_at is null and (i.archived_at is null) = (r.archived = 0) and ${unexpired}
    order by i.seq desc limit (select max(m.most) from ${rows} m)`,
})

export interface Counts {
  readonly unseen: number
  readonly unread: number
}

export const countsOf = (row: Counts | undefined): Counts => ({
  unseen: Number(row?.unseen ?? 0),
  unread: Number(row?.unread ?? 0),
})

/** The last number of a user, and the counts of the notifications in the part `inbox`. */
export interface UserState extends Counts {
  readonly last: number
}

/** The state of one user. Without a notification ever, `last` is 0. */
export function userStateOp(brand: string, userId: string, now: number): Op<UserState> {
  return op(selectUserState, [[brand, userId, now]])
}

/** Counts the notifications that are neither dismissed, nor archived, nor expired. Needs the aliases i and r. */
const counts = [
  ['unseen', 'seen_at'],
  ['unread', 'read_at'],
]
  .map(
    ([name, column]) =>
      `count(case when i.seq is not null and i.${column} is null and i.dismissed_at is null and i.archived_at is null and ${unexpired} then 1 end) as ${name}`,
  )
  .join(', ')

const selectUserState = statement<UserState>('select_inbox_user', { brand: 'text', user_id: 'text', now: 'bigint' })`
  select coalesce(max(u.last), 0) as last, ${counts}
  from ${rows} r
  left join inbox_users u on u.brand = r.brand and u.user_id = r.user_id
  left join inbox i on i.brand = r.brand and i.user_id = r.user_id`

/** A notification with after < changed <= upto. A user without one has one row with `last`, in which seq is null. */
export interface ChangedRow extends Omit<Row, 'seq'>, UserState {
  readonly seq: number | null
  readonly changed: number
}

export interface ChangeRange {
  readonly brand: string
  readonly userId: string
  readonly after: number
  readonly upto: number
}

/** The new and changed notifications in these ranges, and the state of each user, from one snapshot. */
export function changesOp(ranges: readonly ChangeRange[], now: number): Op<ChangedRow> {
  return op(selectChanges, ranges, ({ brand, userId, after, upto }) => [brand, userId, after, upto, now])
}

const selectChanges = statement<ChangedRow>({
  name: 'select_inbox_changes',
  columns: { brand: 'text', user_id: 'text', after: 'bigint', upto: 'bigint', now: 'bigint' },
  text: (rows) => `
    select r.brand, r.user_id, coalesce(u.last, 0) as last, c.unseen, c.unread, i.changed,
      ${shownColumns.slice(2).join(', ')}
    from ${rows} r
    join (
      select r.brand, r.user_id, ${counts}
      from ${rows} r left join inbox i on i.brand = r.brand and i.user_id = r.user_id
      group by r.brand, r.user_id) c on c.brand = r.brand and c.user_id = r.user_id
    left join inbox_users u on u.brand = r.brand and u.user_id = r.user_id
    left join inbox i on i.brand = r.brand and i.user_id = r.user_id and i.changed > r.after and i.changed <= r.upto and ${unexpired}
    order by r.brand, r.user_id, i.changed`,
})

const deleteOfUser = statement<{ user_id: string }>({
  name: 'delete_inbox_of_user',
  columns: { brand: 'text', user_id: 'text', at: 'bigint' },
  route: 'user_id',
  text: (rows) => `
    delete from inbox where (brand, user_id, seq) in (
      select i.brand, i.user_id, i.seq from ${rows} r join inbox i on i.brand = r.brand and i.user_id = r.user_id
      where i.created_at <= r.at)
    returning user_id`,
})

/** Deletes the last number of a user without notifications. A client that has a greater one is told to fetch the list. */
const deleteUser = statement<{ user_id: string }>({
  name: 'delete_inbox_user',
  columns: { brand: 'text', user_id: 'text' },
  route: 'user_id',
  text: (rows) => `
    delete from inbox_users where (brand, user_id) in (select r.brand, r.user_id from ${rows} r)
      and not exists (select 1 from inbox i where i.brand = inbox_users.brand and i.user_id = inbox_users.user_id)
    returning user_id`,
})

/** Deletes the notifications of a user up to this time (epoch ms). @returns the number of deleted rows */
export async function eraseNotifications(
  database: Database,
  brand: string,
  userId: string,
  at: number,
): Promise<number> {
  const user = [[brand, userId]]
  const [gone, users] = await database.commit([
    op(deleteOfUser, [[brand, userId, at]]),
    op(deleteUser, user),
    op(touchUser, user),
  ])
  return gone.length + users.length
}

/** Changes nothing. While the brand is moved to another database, this is refused, and with it the commit. */
const touchUser = statement('touch_inbox_user', { brand: 'text', user_id: 'text' })`
  update inbox_users set last = inbox_users.last from ${rows} r
  where inbox_users.brand = r.brand and inbox_users.user_id = r.user_id`

/** Numbers are never reused. */
export const forgetNotifications = forgetOld({ table: 'inbox', key: 'brand, ref', age: 'created_at', unit: 'ms' })
