// The tables of the delivery statuses, which no other folder reads or writes.
//
// status_messages  one row for each message that has a status: its channel, user and meta (row 25).
// statuses         one row for each status of a message, with its first time (row 23). `number` is null until pages.ts assigns it.
// status_counter   one row with the last number.
// status_batches   one row for each assignment of numbers: its last number, and a random tag that cursors name.

import type { Migration } from '../../base/store/database.ts'
import { rows, statement } from '../../base/store/statement.ts'
import { type MessageStatus, messageStatuses } from '../../contract/status.ts'
import type { Timestamp } from '../../contract/timestamp.ts'

export const statusMigrations: readonly Migration[] = [
  {
    name: 'status/1',
    statements: ({ key }) => [
      // Identifiers are unique across all brands, as in the table messages, and begin with their time.
      `create table status_messages (
         ref ${key} not null primary key, brand ${key} not null, channel ${key} not null, user_id ${key} not null, meta text)`,
      `create table statuses (
         ref ${key} not null, status ${key} not null, brand ${key} not null, at ${key} not null,
         recorded_at bigint not null, number bigint,
         primary key (ref, status))`,
      // A poll reads the statuses of its brands only. PostgreSQL would read those of all brands if it had an index of numbers alone.
      'create unique index statuses_of_brand on statuses (brand, number) where number is not null',
      'create index statuses_without_number on statuses (recorded_at, ref) where number is null',
      'create table status_counter (id bigint not null primary key, last bigint not null)',
      'insert into status_counter (id, last) values (1, 0)',
      `create table status_batches (last bigint not null primary key, tag ${key} not null, at bigint not null)`,
    ],
  },
]

/** Inserts messages. A message that has a row keeps it: its meta is that of its first attempt. */
export const insertMessages = statement({
  name: 'insert_status_messages',
  columns: { ref: 'text', brand: 'text', channel: 'text', user_id: 'text', meta: 'text' },
  text: (rows) => `
    insert into status_messages (ref, brand, channel, user_id, meta)
    select r.ref, r.brand, r.channel, r.user_id, r.meta from ${rows} r where true order by r.ref
    on conflict (ref) do nothing`,
})

/** Inserts statuses of messages that have a row. A status that the message has already keeps its first time. */
export const insertStatuses = statement({
  name: 'insert_statuses',
  columns: { ref: 'text', status: 'text', brand: 'text', at: 'text', recorded_at: 'bigint' },
  text: (rows) => `
    insert into statuses (ref, status, brand, at, recorded_at)
    select r.ref, r.status, r.brand, r.at, r.recorded_at
    from ${rows} r join status_messages m on m.ref = r.ref and m.brand = r.brand
    where true order by r.ref, r.status, r.at
    on conflict (ref, status) do nothing`,
})

export interface StatusMessage {
  readonly ref: string
  readonly brand: string
  readonly channel: 'push' | 'site'
  readonly user_id: string
  readonly meta: string | null
}

export const selectMessages = statement<StatusMessage>('select_status_messages', { ref: 'text' }, { route: 'ref' })`
  select m.ref, m.brand, m.channel, m.user_id, m.meta from ${rows} r join status_messages m on m.ref = r.ref`

/** The statuses of these messages stay, and are returned without meta from then on. */
export const eraseStatusMessages = statement('erase_status_messages', { ref: 'text', user_id: 'text' })`
  update status_messages set meta = null, user_id = r.user_id from ${rows} r where status_messages.ref = r.ref`

export interface StatusOfMessage {
  readonly status: MessageStatus
  readonly at: Timestamp
}

export const selectStatuses = statement<StatusOfMessage>('select_statuses', { ref: 'text' })`
  select s.status, s.at from ${rows} r join statuses s on s.ref = r.ref order by s.at, ${placeOf('s')}`

/** SQL: the place of a status in the list of all. Statuses of one message with equal times are read in this order. */
export function placeOf(table: string): string {
  return `case ${table}.status ${messageStatuses.map((status, n) => `when '${status}' then ${n}`).join(' ')} end`
}
