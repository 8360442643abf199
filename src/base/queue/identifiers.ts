// The identifiers that the operator answered for items (push_id, site_notification_id), inserted with the outcomes. Delivery
// status refers to a message by its identifier, so a look-up must be one index look-up.
//
// A separate table: in `items`, PostgreSQL would rewrite the row with its text, and no index covers the runs of `settled`.
// Roughly ascending identifiers, such as UUIDv7, cost a fifth of random identifiers.
//
// A replay brings a new identifier. `replayed_at` marks the old one: the message is found by both, and only the new one is shown
// as its identifier.
//
// No index is unique: operators may answer equal identifiers for several messages. A commit that is repeated because its result
// was lost inserts equal rows twice, and a unique index would cost more than these rows.

import { readRef } from '../../contract/single-body.ts'
import type { Database, Migration } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import type { Identifier } from './queue.ts'

export const identifierMigrations: readonly Migration[] = [
  {
    name: 'identifiers/1',
    statements: ({ key }) => [
      `create table identifiers (seq bigint not null, lane ${key} not null, ref ${key} not null, replayed_at bigint)`,
      `create index identifiers_ref on identifiers (lane, ref)`,
      `create index identifiers_seq on identifiers (seq)`,
    ],
    brandTables: [{ table: 'identifiers', lane: 'lane', shifted: ({ items }) => ({ seq: `t.seq + ${items}` }) }],
  },
]

const insertIdentifiers = statement('settle_identifiers', { lane: 'text', ref: 'text', seq: 'bigint' })`
  insert into identifiers (lane, ref, seq) select r.lane, r.ref, r.seq from ${rows} r`

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

const selectIdentifiers = statement<{ seq: number; ref: string; replayed_at: number | null }>({
  name: 'select_identifiers',
  columns: { seq: 'bigint' },
  text: (rows) => `
    select distinct d.seq, d.ref, d.replayed_at from ${rows} r cross join identifiers d where d.seq = r.seq`,
})

/** Reads all identifiers of these items: the earlier ones by the time of their replay, then the present one. */
export async function readIdentifiers(
  database: Database,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, readonly Identifier[]>> {
  const rows = await database.read(op(selectIdentifiers, seqs, (seq) => [seq]))
  const identifiers = new Map<number, Identifier[]>()
  for (const { seq, ref, replayed_at: replayedAt } of rows)
    identifiers.set(seq, [...(identifiers.get(seq) ?? []), { ref, replayedAt }])
  for (const each of identifiers.values())
    each.sort((a, b) => (a.replayedAt ?? Number.MAX_SAFE_INTEGER) - (b.replayedAt ?? Number.MAX_SAFE_INTEGER))
  return identifiers
}
