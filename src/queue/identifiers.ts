// The identifiers that operators answered (push_id, site_notification_id), written with the outcome. Delivery status arrives under
// them, so a look-up must be one look into an index.
//
// A table of its own, not a column of `items`: items are never changed, and PostgreSQL would write each row, with its text, again.
// Identifiers that arrive roughly ascending, such as UUIDv7, cost a fifth of those in random order. Operators may answer any text, and
// the same text for several messages: hence `seq` in the primary key. A message that failed and was replayed may have several.

import { readRef } from '../contract/single-body.ts'
import type { Migration } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import type { Settled } from './run.ts'

export const identifierMigrations: readonly Migration[] = [
  {
    name: 'identifiers/1',
    statements: ({ engine, key }) => [
      `create table identifiers (
         lane ${key} not null, ref ${key} not null, seq bigint not null,
         primary key (lane, ref, seq))${engine === 'sqlite' ? ' without rowid' : ''}`,
      `create index identifiers_seq on identifiers (seq)`, // for forgetting
    ],
  },
]

const insertIdentifiers = statement({
  name: 'settle_identifiers',
  rank: 45,
  columns: { lane: 'text', ref: 'text', seq: 'bigint' },
  text: (rows) => `
    insert into identifiers (lane, ref, seq) select r.lane, r.ref, r.seq from ${rows} r where true
    on conflict (lane, ref, seq) do nothing`,
})

/** Writes the identifiers of these items. A provider of somebody's own may answer text that no index can hold: it is left out. */
export function identifiersOp(lane: string, settled: readonly Settled[]) {
  return op(
    insertIdentifiers,
    settled.flatMap(({ ref, seq }) => (readRef(ref) === undefined ? [] : [[lane, ref as string, seq]])),
  )
}
