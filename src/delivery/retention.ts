// Forgetting: a message that is forgotten would be sent if the platform asked again, so it must be older than any retry
// or replay. 90 days, as row 29 asks for.

import { firstUuidv7 } from '../runtime/ids.ts'
import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { oldest, type Seated, withRefs } from './manifests.ts'

// A list may name a message that is in a younger flight: it was tried again, or forgotten and came again.
const selectOld = statement<Seated & { key: string }>({
  name: 'old_messages',
  rank: 60,
  columns: { brand: 'text', key: 'text', before: 'text' },
  text: (rows) => `
    select m.brand, m.key, m.flight, m.seat, m.ref from ${rows} r join messages m on m.brand = r.brand and m.key = r.key
    where m.flight < r.before`,
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

/** Flights at a time, each of at most a thousand messages. */
const step = 20

/**
 * Forgets the messages of a bounded number of a brand's flights that were claimed before `before` (epoch ms). Call it again until
 * it answers 0.
 *
 * @returns how many messages it looked at
 */
export async function forgetMessages(database: Database, brand: string, before: number): Promise<number> {
  const limit = firstUuidv7(before)
  const lists = await oldest(database, brand, limit, step)
  if (!lists) return 0
  const found = await database.read(
    op(
      selectOld,
      lists.keys.map((key) => [brand, key, limit]),
    ),
  )
  const old = await withRefs(database, found)
  const refs = old.map((row) => [row.brand, row.ref])
  await database.commit([
    op(
      deleteMessages,
      old.map((row) => [row.brand, row.key]),
    ),
    op(deleteRefusals, refs),
    op(deleteDeviceSends, refs),
    lists.forget,
  ])
  return lists.keys.length
}
