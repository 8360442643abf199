// The queue's tables. They are written when an item is enqueued, settled, or postponed for a long time, not in between.
//
// items        every item with its text; never updated. (lane, key) is unique. user_id is null if the key names no user.
// waiting      one narrow row for each item that is not settled. due_at 0: as soon as possible, in the order of seq.
// settled      outcomes as runs: one row for consecutive successful items, one row for each failed item.
// lane_counts  the numbers of waiting, successful and failed items of each lane, kept by triggers: store/counters.ts.
// identifiers  the identifier that the operator answered for each item: identifiers.ts.
// failed       Failed Actions (§6.4): one row for each failed item of a lane that keeps them, with the decision.
// pauses       the paused lanes.
//
// Settling deletes from `waiting` and adds a run. This costs a small part of updating the row of the item: no text is copied,
// no index of `items` changes, and no dead rows slow down reading.

import { counters } from '../store/counters.ts'
import type { Migration } from '../store/database.ts'
import { identifierMigrations } from './identifiers.ts'

export const settledState = { successful: 1, failed: 2 } as const
export type SettledState = (typeof settledState)[keyof typeof settledState]

export const failedState = { pending: 0, dismissed: 1, replayed: 2 } as const

/** The number of consecutive items in a chunk of the index `items_user`. */
export const itemsOfChunk = 10_000

export const queueMigrations: readonly Migration[] = [
  {
    name: 'queue/1',
    statements: ({ engine, key, serial }) => [
      `create table items (
         seq ${serial}, lane ${key} not null, key ${key} not null, text text not null, put_at bigint not null,
         token bigint not null, traceparent text, user_id ${key})`,
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
         seq bigint primary key, lane ${key} not null, key ${key} not null, activity ${key}, action ${key}, user_id ${key},
         reason text not null, error text not null, rule text not null, answer text, call ${key}, attempts bigint not null,
         at bigint not null, state bigint not null, decision ${key}, decided_by text, decided_at bigint)`,
      `create table pauses (lane ${key} primary key, at bigint not null, reason text not null)`,
    ],
  },
  ...identifierMigrations,
  counters({
    table: 'lane_counts',
    counted: 'waiting',
    scope: 'lane',
    counts: [{ name: () => `'waiting'`, n: () => '1' }],
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
