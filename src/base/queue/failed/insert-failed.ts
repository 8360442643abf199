// Inserts items into Failed Actions without an attempt ("parking"). They are dismissed and replayed like all failed items.

import { shortened } from '../../../contract/storable.ts'
import type { ErasedPeople } from '../../people/erasures.ts'
import type { Op, Value } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import { enqueueOps } from '../enqueue.ts'
import { readUserId } from '../item-keys.ts'
import type { NewFailedItem } from '../queue.ts'
import { settledState } from '../tables.ts'
import { failedState } from './failed-state.ts'

// An item that waits is being replayed: the replay decides its outcome.
const notWaiting = 'not exists (select 1 from waiting w where w.lane = i.lane and w.seq = i.seq)'

const parkSettled = statement({
  name: 'park_settled',
  columns: { lane: 'text', key: 'text', state: 'bigint', at: 'bigint', detail: 'text' },
  text: (rows) => `
    insert into settled (lane, first, last, state, at, detail)
    select i.lane, i.seq, i.seq, r.state, r.at, r.detail from ${rows} r join items i on i.lane = r.lane and i.key = r.key
    where ${notWaiting} on conflict (lane, first) do nothing`,
})

// An item that was dismissed or replayed becomes pending: a person has to decide again.
const parkFailed = statement('park_failed', {
  lane: 'text',
  key: 'text',
  user_id: 'text',
  reason: 'text',
  error: 'text',
  rule: 'text',
  at: 'bigint',
  state: 'bigint',
})`
  insert into failed (seq, lane, key, user_id, reason, error, rule, attempts, at, state)
  select i.seq, i.lane, i.key, r.user_id, r.reason, r.error, r.rule, 0, r.at, r.state
  from ${rows} r join items i on i.lane = r.lane and i.key = r.key
  where ${notWaiting}
  on conflict (seq) do update set reason = excluded.reason, error = excluded.error, rule = excluded.rule,
    answer = null, status = null, call = null, attempts = 0, at = excluded.at, state = excluded.state`

/** Operations that insert these items. No key may occur twice in one call. */
export function insertFailedOps(
  lane: string,
  items: readonly NewFailedItem[],
  now: number,
  erased: Pick<ErasedPeople, 'find'>,
): Op[] {
  if (items.length === 0) return []
  const settled: Value[][] = []
  const failed: Value[][] = []
  for (const { key, reason, error, rule } of items) {
    const detail = { attempt: 0, reason, error: shortened(error), rule: shortened(rule) }
    settled.push([lane, key, settledState.failed, now, JSON.stringify(detail)])
    failed.push([lane, key, readUserId(key), reason, detail.error, detail.rule, now, failedState.pending])
  }
  const [insert] = enqueueOps(lane, items, now, erased)
  return [insert, op(parkSettled, settled), op(parkFailed, failed)]
}
