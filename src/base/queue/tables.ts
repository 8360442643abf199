// The queue's tables. They are written when an item is enqueued, settled, or postponed for a long time, not in between.
//
// items        every item with its text; updated only by erase.ts. (lane, key) is unique. user_id is null if the key names no user.
//              expires_at null: the item never expires. transactional 1: it is sent before the others.
//
// waiting      one narrow row for each item that is not settled. due_at 0: as soon as possible, in the order of
//              seq. due_at -1: transactional, before the others. From 2^52 on: held back by a pause (paused-items.ts).
// settled      outcomes as runs: one row for consecutive successful items, one row for each failed item.
// lane_counts  the numbers of waiting, paused, successful and failed items of each lane, kept by triggers: store/counters.ts.
// identifiers  the identifier that the operator answered for each item: identifiers.ts.
// failed       Failed Actions (§6.4): one row for each failed item of a lane that keeps them, with the decision.
// failed_counts  the number of rows of `failed` in each group, kept by triggers: failed-counts.ts.
// attempts     the earlier unsuccessful attempts of items: attempts.ts.
// controls     the changes to running lanes: controls.ts.
// cancellations  the requests to cancel waiting items, with their progress: cancellations.ts.
// brand_moves  the brands that moved from this database to another, or from another to this one: brand-moves.ts.
// outcome_counts  the numbers of successful and failed messages by day, activity and action: outcome-counts.ts.
// lane_processes, lane_owners  which process serves which lane: lane-owners.ts.
//
// Settling deletes from `waiting` and adds a run. This costs a small part of updating the row of the item: no text is copied,
// no index of `items` changes, and no dead rows slow down reading.

import type { NumberShifts } from '../store/brand-table.ts'
import { counters } from '../store/counters.ts'
import type { Migration } from '../store/database.ts'
import { failedCountMigration } from './failed/failed-counts.ts'
import { identifierMigrations } from './identifiers.ts'
import { attemptMigrations } from './lane/attempts.ts'
import { outcomeCountMigration } from './outcome-counts.ts'
import { brandMoveMigration } from './owners/brand-moves.ts'
import { laneOwnerMigration } from './owners/lane-owners.ts'

export const settledState = { successful: 1, failed: 2 } as const
export type SettledState = (typeof settledState)[keyof typeof settledState]

/** The `due_at` of new items: transactional items are before all others in the primary key. */
export const newItemsDueAt = { transactional: -1, others: 0 } as const
/** From here on, `due_at` is not a time: a pause holds the item back. The distance is the number of the pause. */
export const pausedFrom = 2 ** 52

/** The number of consecutive items in a chunk of the index `items_user`. */
export const itemsOfChunk = 10_000

/** The `due_at` of a paused item contains the number of its pause. An item whose pause has ended becomes due. */
const shiftedWaiting = ({ items, controls }: NumberShifts) => ({
  seq: `t.seq + ${items}`,
  due_at: `case when t.due_at < ${pausedFrom} then t.due_at
    when exists (select from controls c where c.id = t.due_at - ${pausedFrom}) then t.due_at + ${controls} else 1 end`,
})

/** A cancellation covers the numbers up to the last item of all brands. In the other store, later items may have these numbers. */
const shiftedCancellation = ({ items }: NumberShifts) => ({
  last_seq: `case when t.done_at is not null then t.last_seq
    else least(t.last_seq, (select coalesce(max(i.seq), 0) from items i where i.lane = t.lane)) + ${items} end`,
})

export const queueMigrations: readonly Migration[] = [
  {
    name: 'queue/1',
    statements: ({ engine, key, serial }) => [
      `create table items (
         seq ${serial}, lane ${key} not null, key ${key} not null, text text not null, enqueued_at bigint not null,
         token bigint not null, traceparent text, user_id ${key}, expires_at bigint, transactional bigint)`,
      `create unique index items_key on items (lane, key)`,
      // Users come in random order. With the chunk before the user, inserts touch only the end of the index. A look-up visits
      // each chunk: 100 million items are 10,000 chunks, about 20 ms. The lane is an expression, so that PostgreSQL without
      // statistics does not choose this index for other queries.
      `create index items_user on items ((lane || ''), (seq / ${itemsOfChunk}), user_id)`,
      `create table waiting (
         lane ${key} not null, due_at bigint not null, seq bigint not null, attempt bigint not null,
         primary key (lane, due_at, seq))${engine === 'sqlite' ? ' without rowid' : ''}`,
      `create table settled (
         lane ${key} not null, first bigint not null, last bigint not null, state bigint not null, at bigint not null,
         detail text not null, primary key (lane, first))`,
      `create index settled_at on settled (at)`,
      `create table failed (
         seq ${engine === 'sqlite' ? 'integer' : 'bigint'} primary key, lane ${key} not null, key ${key} not null,
         activity ${key}, action ${key}, user_id ${key}, reason ${key} not null, error text not null, rule text not null,
         answer text, status bigint, call ${key}, attempts bigint not null, at bigint not null, state bigint not null,
         replays bigint not null default 0, decision ${key}, decided_by text, decided_at bigint)`,
      `create index failed_lane on failed (lane, seq)`,
      `create table controls (
         id ${serial}, scope ${key} not null, kind ${key} not null, name ${key} not null, value text,
         set_by text not null, reason text not null, at bigint not null, expires_at bigint)`,
      `create unique index controls_key on controls (scope, kind, name)`,
      `create table cancellations (
         id ${key} not null, lane ${key} not null, activity ${key}, action ${key}, user_id ${key}, enqueued_after bigint,
         enqueued_before bigint, last_seq bigint not null, cancelled_by text not null, reason text not null, at bigint not null,
         cancelled bigint not null, done_at bigint, primary key (id, lane))`,
      `create index cancellations_lane on cancellations (lane, at)`,
    ],
    brandTables: [
      { table: 'items', lane: 'lane', identity: 'seq' },
      { table: 'waiting', lane: 'lane', shifted: shiftedWaiting },
      {
        table: 'settled',
        lane: 'lane',
        shifted: ({ items }) => ({ first: `t.first + ${items}`, last: `t.last + ${items}` }),
        // One call of all items of the run, or an array.
        refersTo: { calls: `jsonb_path_query(t.detail::jsonb, '$.call[*]') #>> '{}'` },
      },
      {
        table: 'failed',
        lane: 'lane',
        shifted: ({ items }) => ({ seq: `t.seq + ${items}` }),
        refersTo: { calls: 't.call' },
      },
      { table: 'controls', lane: 'scope', identity: 'id', deletedByPeople: true },
      { table: 'cancellations', lane: 'lane', shifted: shiftedCancellation },
    ],
  },
  ...identifierMigrations,
  ...attemptMigrations,
  failedCountMigration,
  laneOwnerMigration,
  brandMoveMigration,
  outcomeCountMigration,
  counters({
    table: 'lane_counts',
    counted: 'waiting',
    scope: 'lane',
    counts: [
      {
        name: (row) => `case when ${row}.due_at >= ${pausedFrom} then 'paused ' || ${row}.due_at else 'waiting' end`,
        n: () => '1',
        of: ['due_at'],
      },
    ],
  }),
  counters({
    table: 'lane_counts',
    counted: 'settled',
    scope: 'lane',
    counts: [
      {
        name: (run) => `case ${run}.state when ${settledState.successful} then 'successful' else 'failed' end`,
        n: (run) => `(${run}.last - ${run}.first + 1)`,
      },
    ],
  }),
]
