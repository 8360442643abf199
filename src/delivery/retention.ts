// Forgetting: a message that is forgotten would be sent if the platform asked again, so it must be older than any retry
// or replay. 90 days, as row 29 asks for.

import { firstUuidv7 } from '../runtime/ids.ts'
import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'

// Identifiers begin with their time, so the oldest are the first of the index.
const selectOld = statement<{ brand: string; ref: string; key: string }>({
  name: 'old_messages',
  rank: 60,
  columns: { brand: 'text', before: 'text', most: 'bigint' },
  text: (rows) => `
    select m.brand, m.ref, m.key from messages m
    where m.brand = (select r.brand from ${rows} r) and m.ref < (select r.before from ${rows} r)
    order by m.ref limit (select r.most from ${rows} r)`,
})

const deleteMessages = statement({
  name: 'forget_messages',
  rank: 61,
  columns: { brand: 'text', key: 'text' },
  text: (rows) => `delete from messages where (brand, key) in (select r.brand, r.key from ${rows} r)`,
})
const forget = (table: 'refusals' | 'device_sends', rank: number) =>
  statement({
    name: `forget_${table}`,
    rank,
    columns: { brand: 'text', ref: 'text' },
    text: (rows) => `delete from ${table} where (brand, ref) in (select r.brand, r.ref from ${rows} r)`,
  })
const deleteRefusals = forget('refusals', 62)
const deleteDeviceSends = forget('device_sends', 63)

const step = 1_000

/**
 * Forgets a bounded number of a brand's messages that were first seen before `before` (epoch ms). Call it again until it
 * answers 0.
 */
export async function forgetMessages(database: Database, brand: string, before: number): Promise<number> {
  const old = await database.read(op(selectOld, [[brand, firstUuidv7(before), step]]))
  if (old.length === 0) return 0
  const refs = old.map((row) => [row.brand, row.ref])
  await database.commit([
    op(
      deleteMessages,
      old.map((row) => [row.brand, row.key]),
    ),
    op(deleteRefusals, refs),
    op(deleteDeviceSends, refs),
  ])
  return old.length
}
