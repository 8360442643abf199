// Parking: an item that was never to be handled, put among the failed ones at once (design §6: one list, dismiss, replay).

import { shortened } from '../contract/storable.ts'
import type { Op, Value } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { userOf } from './parts.ts'
import { putOps } from './put.ts'
import type { ParkedItem } from './queue.ts'
import { failedState, settledState } from './tables.ts'

// What is being replayed this moment is left to that.
const still = 'not exists (select 1 from waiting w where w.lane = i.lane and w.seq = i.seq)'

const parkSettled = statement({
  name: 'park_settled',
  rank: 45,
  columns: { lane: 'text', key: 'text', state: 'bigint', at: 'bigint', detail: 'text' },
  text: (rows) => `
    insert into settled (lane, first, last, state, at, detail)
    select i.lane, i.seq, i.seq, r.state, r.at, r.detail from ${rows} r join items i on i.lane = r.lane and i.key = r.key
    where ${still} on conflict (lane, first) do nothing`,
})

const parkFailed = statement({
  name: 'park_failed',
  rank: 46,
  columns: {
    lane: 'text',
    key: 'text',
    user_id: 'text',
    reason: 'text',
    error: 'text',
    rule: 'text',
    at: 'bigint',
    state: 'bigint',
  },
  // Dismissed or replayed, and here it is again: somebody has to look again.
  text: (rows) => `
    insert into failed (seq, lane, key, user_id, reason, error, rule, attempts, at, state)
    select i.seq, i.lane, i.key, r.user_id, r.reason, r.error, r.rule, 0, r.at, r.state
    from ${rows} r join items i on i.lane = r.lane and i.key = r.key
    where ${still}
    on conflict (seq) do update set reason = excluded.reason, error = excluded.error, rule = excluded.rule,
      at = excluded.at, state = excluded.state`,
})

/** The ops that park these items; one that is parked already is pending again. None twice in one call. */
export function parkOps(lane: string, items: readonly ParkedItem[], now: number): Op[] {
  if (items.length === 0) return []
  const settled: Value[][] = []
  const failed: Value[][] = []
  for (const { key, reason, error, rule } of items) {
    const said = { reason, error: shortened(error), rule: shortened(rule) }
    settled.push([lane, key, settledState.failed, now, JSON.stringify({ attempt: 0, ...said })])
    failed.push([lane, key, userOf(key), said.reason, said.error, said.rule, now, failedState.pending])
  }
  const [insert] = putOps(lane, items, now)
  return [insert, op(parkSettled, settled), op(parkFailed, failed)]
}
