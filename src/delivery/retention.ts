// Retention. If the platform repeats a message whose row was deleted, the message is sent again. So a row must be older than any
// retry or replay when it is deleted: 90 days, as row 29 demands.

import { firstUuidv7 } from '../runtime/ids.ts'
import type { RetainedTable } from '../runtime/retention.ts'
import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'

/** Identifiers begin with their time, so the oldest messages are at the start of the index `messages_ref`. */
const deleteMessages = statement<{ gone: number }>({
  name: 'forget_messages',
  columns: { before: 'text', updated_before: 'bigint', most: 'bigint' },
  text: (rows) => `
    delete from messages where ref in (
      select m.ref from messages m
      where m.ref < (select r.before from ${rows} r) and m.updated_at < (select r.updated_before from ${rows} r)
      order by m.ref limit (select r.most from ${rows} r))
    returning 1 as gone`,
})

const deleteEvidence = (table: 'refusals' | 'device_sends') =>
  statement<{ gone: number }>({
    name: `forget_${table}`,
    columns: { brand: 'text', before: 'text', most: 'bigint' },
    text: (rows) => `
      delete from ${table} where (brand, ref) in (
        select e.brand, e.ref from ${table} e
        where e.brand = (select r.brand from ${rows} r) and e.ref < (select r.before from ${rows} r)
        order by e.ref limit (select r.most from ${rows} r))
      returning 1 as gone`,
  })
const deleteRefusals = deleteEvidence('refusals')
const deleteDeviceSends = deleteEvidence('device_sends')

const deleteRequests = statement<{ gone: number }>({
  name: 'forget_requests',
  columns: { before: 'text', most: 'bigint' },
  text: (rows) => `
    delete from requests where id in (
      select q.id from requests q where q.id < (select r.before from ${rows} r) order by q.id
      limit (select r.most from ${rows} r))
    returning 1 as gone`,
})

const selectBrands = statement<{ brand: string }>({
  name: 'brands_with_messages',
  columns: {},
  text: () => 'select distinct c.scope as brand from message_counts c',
})

const batchRows = 2_000

/** The retention of the tables of `deliveryMigrations`. */
export function deliveryRetention(
  database: Database,
  { keptMs, contentsKeptMs }: { readonly keptMs: number; readonly contentsKeptMs: number },
): readonly RetainedTable[] {
  return [
    { keptMs, forget: (before) => forgetMessages(database, before) },
    { keptMs: contentsKeptMs, forget: (before) => forgetAttempts(database, before) },
    { keptMs: contentsKeptMs, forget: (before) => forgetRequests(database, before) },
  ]
}

/**
 * Deletes a bounded number of messages that were claimed, and last changed, before `before` (epoch ms). Call it again until it
 * returns 0.
 */
export async function forgetMessages(database: Database, before: number): Promise<number> {
  const [gone] = await database.commit([op(deleteMessages, [[firstUuidv7(before), before, batchRows]])])
  return gone.length
}

/** Deletes the evidence of attempts, of all brands, in the same way. On PostgreSQL by whole days, as calls and requests. */
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

/** Deletes the bodies of requests, of all brands, in the same way. */
export async function forgetRequests(database: Database, before: number): Promise<number> {
  if (database.dropPartitions) return database.dropPartitions('requests', before)
  const [gone] = await database.commit([op(deleteRequests, [[firstUuidv7(before), batchRows]])])
  return gone.length
}
