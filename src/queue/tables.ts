// The queue's tables. A row is written when it is put, when it is settled and when it is put off for long, not in between.
//
// items     every item that was ever put, with its text; never changed. Unique (lane, key): what is put again is not new.
//           user_id is null for an item whose key names no user.
// waiting   one narrow row for each item that is not settled. due_at 0: as soon as possible, in the order of seq.
// settled   what became of items, as runs: one row for consecutive seqs that succeeded, one row for each that failed.
// lane_counts  how many items of each lane wait, were successful and failed, kept by triggers: store/counters.ts.
// identifiers  the identifier that the operator answered for each item: identifiers.ts.
// failed    Failed Actions (§6.4): one row for each failed item of a lane that keeps them, and what a person decided.
// pauses    lanes that wait for a person.
//
// Settling deletes from `waiting` and adds a run, which is a small part of the cost of updating the item's own row: no text
// is copied, no index of `items` is touched, and nothing that is read ahead lies between dead rows.

import { counters } from '../store/counters.ts'
import type { Migration } from '../store/database.ts'
import { identifierMigrations } from './identifiers.ts'

export const settledState = { successful: 1, failed: 2 } as const
export type SettledState = (typeof settledState)[keyof typeof settledState]

export const failedState = { pending: 0, dismissed: 1, replayed: 2 } as const

/** The index of users is written in chunks of this many consecutive numbers. */
export const itemsOfChunk = 10_000

export const queueMigrations: readonly Migration[] = [
  {
    name: 'queue/1',
    statements: ({ engine, key, serial }) => [
      `create table items (
         seq ${serial}, lane ${key} not null, key ${key} not null, text text not null, put_at bigint not null,
         token bigint not null, traceparent text, user_id ${key})`,
      `create unique index items_key on items (lane, key)`,
      // Users come in random order. Led by a chunk of numbers, the index grows at its end instead of all over, and a look-up asks
      // each chunk in turn: 100 million items are 10,000 chunks, some 20 ms.
      // By an expression of the lane, so that only a look-up by user is planned with it: without statistics PostgreSQL takes any index that fits.
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
