// The identifier that the operator answered for an item (push_id, site_notification_id), written with its outcome. Delivery status
// arrives under it, so a look-up must be one look into an index.
//
// A table of its own, not a column of `items`: items are never changed, and PostgreSQL would write each row, with its text, again. Not
// in the runs of `settled` either: no index finds what is in them. Identifiers that arrive roughly ascending, such as UUIDv7, cost a
// fifth of identifiers in random order.
//
// No key is unique. Operators may answer the same text for several messages. A commit that is repeated, because it is unknown whether it
// was done, writes its rows twice; they are equal, and a unique index would cost more than it saves.

import { readRef } from '../contract/single-body.ts'
import type { Migration } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'

export const identifierMigrations: readonly Migration[] = [
  {
    name: 'identifiers/1',
    statements: ({ key }) => [
      `create table identifiers (seq bigint not null, lane ${key} not null, ref ${key} not null)`,
      `create index identifiers_ref on identifiers (lane, ref)`,
      `create index identifiers_seq on identifiers (seq)`,
    ],
  },
]

const insertIdentifiers = statement({
  name: 'settle_identifiers',
  rank: 45,
  columns: { lane: 'text', ref: 'text', seq: 'bigint' },
  text: (rows) => `insert into identifiers (lane, ref, seq) select r.lane, r.ref, r.seq from ${rows} r`,
})

/** Writes the identifiers of these items. A custom provider may answer a text that no index can hold: it is left out. */
export function identifiersOp(
  lane: string,
  settled: readonly { readonly seq: number; readonly ref?: string | undefined }[],
) {
  return op(
    insertIdentifiers,
    settled.flatMap(({ ref, seq }) => (readRef(ref) === undefined ? [] : [[lane, ref as string, seq]])),
  )
}
