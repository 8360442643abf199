// The identifiers that the operator answered for items (push_id, site_notification_id), inserted with the outcomes. Delivery
// status refers to a message by its identifier, so a look-up must be one index look-up.
//
// A separate table: in `items`, PostgreSQL would rewrite the row with its text, and no index covers the runs of `settled`.
// Roughly ascending identifiers, such as UUIDv7, cost a fifth of random identifiers.
//
// No index is unique: operators may answer equal identifiers for several messages. A commit that is repeated because its result
// was lost inserts equal rows twice, and a unique index would cost more than these rows.

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

/** Inserts the identifiers of these items, without texts of a custom provider that an index cannot store. */
export function identifiersOp(
  lane: string,
  settled: readonly { readonly seq: number; readonly ref?: string | undefined }[],
) {
  return op(
    insertIdentifiers,
    settled.flatMap(({ ref, seq }) => (readRef(ref) === undefined ? [] : [[lane, ref as string, seq]])),
  )
}
