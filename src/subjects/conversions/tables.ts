// The tables of the delivery statuses that operators report, and their statements.
//
// reported_statuses    each status of each identifier, with its first time and its meta (rows 23 and 25). A status may arrive
//                      before the answer that brings its identifier.
// awaited_identifiers  the identifiers of reported_statuses that no message has yet: awaited.ts.
//
// conversions          the stage of each known identifier: counted.ts.
// status_cursors       how far the statuses of each lane were polled: poller.ts.
//
// No statement changes a later time into an earlier one, and the key is (lane, identifier, status): calls may be repeated, and
// may arrive in any order.

import type { LaneRef } from '../../base/queue/find-refs.ts'
import type { Migration } from '../../base/store/database.ts'
import { forgetOld } from '../../base/store/forget-old.ts'
import { rows, statement } from '../../base/store/statement.ts'
import type { MessageStatus } from '../../contract/status.ts'
import type { Timestamp } from '../../contract/timestamp.ts'
import { countedMigrations } from './counted.ts'

export const conversionMigrations: readonly Migration[] = [
  {
    name: 'conversions/1',
    statements: ({ engine, key }) => [
      `create table reported_statuses (
         lane ${key} not null, ref ${key} not null, status ${key} not null, at ${key} not null, meta text,
         received_at bigint not null, primary key (lane, ref, status))${engine === 'sqlite' ? ' without rowid' : ''}`,
      `create index reported_statuses_received on reported_statuses (received_at)`,
      `create table awaited_identifiers (
         lane ${key} not null, ref ${key} not null, since bigint not null, reports bigint not null, primary key (lane, ref))`,
      `create table status_cursors (lane ${key} not null primary key, cursor ${key} not null, at bigint not null)`,
    ],
    brandTables: [
      { table: 'reported_statuses', lane: 'lane' },
      { table: 'awaited_identifiers', lane: 'lane' },
      { table: 'status_cursors', lane: 'lane' },
    ],
  },
  ...countedMigrations,
]

/** A status of an identifier, as it is stored. */
export interface ReportedStatus extends LaneRef {
  readonly status: MessageStatus
  readonly at: Timestamp
  /** JSON text; null: not sent, or erased. */
  readonly meta: string | null
}

// Before `insertReported`: the row is locked until the statuses are committed, so that removeAwaited() cannot overlook them.
export const insertAwaited = statement('insert_awaited_identifiers', { lane: 'text', ref: 'text', since: 'bigint' })`
  insert into awaited_identifiers (lane, ref, since, reports)
  select r.lane, r.ref, min(r.since), 1 from ${rows} r where true group by r.lane, r.ref order by r.lane, r.ref
  on conflict (lane, ref) do update set reports = awaited_identifiers.reports + 1`

/** An identifier that no message has yet. */
export interface Awaited extends LaneRef {
  /** The time of its first status. */
  readonly since: number
  /** How often a status arrived. */
  readonly reports: number
}

export const selectAwaited = statement<Awaited>({
  name: 'select_awaited_identifiers',
  columns: { lane: 'text', ref: 'text', most: 'bigint' },
  text: (rows) => `
    select a.lane, a.ref, a.since, a.reports from awaited_identifiers a
    where (a.lane, a.ref) > (select r.lane, r.ref from ${rows} r)
    order by a.lane, a.ref limit (select r.most from ${rows} r)`,
})

/** Counts the identifiers of a lane, up to `most`. */
export const countAwaited = statement<{ awaited: number }>({
  name: 'count_awaited_identifiers',
  columns: { lane: 'text', most: 'bigint' },
  text: (rows) => `
    select count(*) as awaited from (
      select 1 from awaited_identifiers a
      where a.lane = (select r.lane from ${rows} r) limit (select r.most from ${rows} r)) x`,
})

/** Deletes the rows for which no further status has arrived since they were read. */
export const deleteAwaited = statement<LaneRef>({
  name: 'delete_awaited_identifiers',
  columns: { lane: 'text', ref: 'text', reports: 'bigint' },
  text: (rows) => `
    delete from awaited_identifiers where (lane, ref, reports) in (select r.lane, r.ref, r.reports from ${rows} r)
    returning lane, ref`,
})

// The statuses of several callers may be equal: the first one counts.
export const insertReported = statement({
  name: 'insert_reported_statuses',
  columns: { lane: 'text', ref: 'text', status: 'text', at: 'text', meta: 'text', received_at: 'bigint' },
  text: (rows) => `
    insert into reported_statuses (lane, ref, status, at, meta, received_at)
    select r.lane, r.ref, r.status, r.at, r.meta, r.received_at
    from (select x.*, row_number() over (partition by x.lane, x.ref, x.status order by x.at, x.meta) as place from ${rows} x) r
    where r.place = 1 order by r.lane, r.ref, r.status
    on conflict (lane, ref, status) do update set at = excluded.at, meta = coalesce(excluded.meta, reported_statuses.meta)
      where excluded.at < reported_statuses.at`,
})

export const selectReported = statement<ReportedStatus>('select_reported_statuses', { lane: 'text', ref: 'text' })`
  select s.lane, s.ref, s.status, s.at, s.meta from ${rows} r cross join reported_statuses s
  where s.lane = r.lane and s.ref = r.ref`

export const deleteReported = statement('delete_reported_statuses', { lane: 'text', ref: 'text', status: 'text' })`
  delete from reported_statuses where (lane, ref, status) in (select r.lane, r.ref, r.status from ${rows} r)`

/** The operator's meta contains the activity record of the user. */
export const eraseMeta = statement('erase_reported_meta', { lane: 'text', ref: 'text' })`
  update reported_statuses set meta = null where (lane, ref) in (select r.lane, r.ref from ${rows} r)`

export const forgetReported = forgetOld({
  table: 'reported_statuses',
  key: 'lane, ref, status',
  age: 'received_at',
  unit: 'ms',
})

export const selectCursor = statement<{ cursor: string }>('select_status_cursor', { lane: 'text' })`
  select c.cursor from ${rows} r join status_cursors c on c.lane = r.lane`

export const upsertCursor = statement('upsert_status_cursor', { lane: 'text', cursor: 'text', at: 'bigint' })`
  insert into status_cursors (lane, cursor, at) select r.lane, r.cursor, r.at from ${rows} r where true
  on conflict (lane) do update set cursor = excluded.cursor, at = excluded.at`
