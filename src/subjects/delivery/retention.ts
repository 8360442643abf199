// Retention. If the platform repeats a message whose row was deleted, the message is sent again. So a row must be older than any
// retry or replay when it is deleted: 90 days, as row 29 demands.

import { forgetErasures } from '../../base/people/erasures.ts'
import { firstUuidv7 } from '../../base/runtime/ids.ts'
import type { Loop } from '../../base/runtime/loop.ts'
import {
  contentsKeptByDefaultMs,
  createRetention,
  keptByDefaultMs,
  type RetainedTable,
} from '../../base/runtime/retention.ts'
import type { Database } from '../../base/store/database.ts'
import { forgetOld } from '../../base/store/forget-old.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { forgetRemovals, forgetUnlinks, removalsKeptMs } from '../devices/retention.ts'
import { forgetNotifications } from '../inbox/store.ts'
import { forgetCalls } from '../providers/calls.ts'

/** Messages that were claimed, and last changed, before the time. */
export const forgetMessages = forgetOld({
  table: 'messages',
  key: 'ref',
  age: 'ref',
  unit: 'id',
  where: (ms) => `o.updated_at < ${ms}`,
})

/** The bodies of requests. */
export const forgetRequests = forgetOld({ table: 'requests', key: 'id', age: 'id', unit: 'id', partitioned: true })

const deleteEvidence = (table: 'refusals' | 'device_sends') =>
  statement<{ gone: number }>(`forget_${table}`, { brand: 'text', before: 'text', most: 'bigint' })`
    delete from ${table} where (brand, ref) in (
      select e.brand, e.ref from ${table} e
      where e.brand = (select r.brand from ${rows} r) and e.ref < (select r.before from ${rows} r)
      order by e.ref limit (select r.most from ${rows} r))
    returning 1 as gone`
const deleteRefusals = deleteEvidence('refusals')
const deleteDeviceSends = deleteEvidence('device_sends')

const selectBrands = statement<{ brand: string }>('brands_with_messages', {})`
  select distinct c.scope as brand from message_counts c`

const batchRows = 2_000

/** Deletes a bounded number of rows from before a time (epoch ms). Call it until it returns 0. */
export type Forget = (database: Database, before: number) => Promise<number>

/**
 * The retention of a store: all tables that both sides have.
 *
 * @param more further tables, which are kept as long as the messages
 */
export function createStoreRetention(
  database: Database,
  queue: { forgetSettled(before: number): Promise<number>; forgetEvidence(before: number): Promise<number> },
  options: { readonly keptMs?: number; readonly contentsKeptMs?: number },
  more: readonly Forget[],
): Loop {
  const { keptMs = keptByDefaultMs, contentsKeptMs = contentsKeptByDefaultMs } = options
  const messages: readonly Forget[] = [
    (_, before) => queue.forgetSettled(before),
    forgetMessages,
    forgetNotifications,
    forgetErasures,
    ...more,
  ]
  const contents: readonly Forget[] = [
    (_, before) => queue.forgetEvidence(before),
    forgetAttempts,
    forgetRequests,
    forgetCalls,
  ]
  const keep = (tables: readonly Forget[], ms: number): RetainedTable[] =>
    tables.map((forget) => ({ keptMs: ms, forget: (before) => forget(database, before) }))
  return createRetention([
    ...keep(messages, keptMs),
    ...keep(contents, Math.min(keptMs, contentsKeptMs)),
    // Row 20: an unlink is kept at least 90 days.
    ...keep([forgetUnlinks], Math.max(keptMs, keptByDefaultMs)),
    ...keep([forgetRemovals], removalsKeptMs),
  ])
}

/**
 * Deletes a bounded number of rows of the evidence of attempts, of all brands. Call it until it returns 0. The tables begin with the
 * brand. On PostgreSQL by whole days, as calls and requests.
 */
export async function forgetAttempts(database: Database, before: number): Promise<number> {
  const { dropPartitions } = database
  let gone = 0
  if (dropPartitions) for (const table of ['refusals', 'device_sends']) gone += await dropPartitions(table, before)
  // All brands that have messages, including brands whose keys were removed from the configuration.
  else
    for (const { brand } of await database.read(op(selectBrands, [[]])))
      gone += await forgetAttemptsOf(database, brand, before)
  return gone
}

async function forgetAttemptsOf(database: Database, brand: string, before: number): Promise<number> {
  const row = [brand, firstUuidv7(before), batchRows]
  const gone = await database.commit([op(deleteRefusals, [row]), op(deleteDeviceSends, [row])])
  return Math.max(...gone.map(({ length }) => length))
}
