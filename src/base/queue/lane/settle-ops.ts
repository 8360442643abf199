// The operations that settle items: their outcomes, and the rows that come with the outcomes, in one transaction.

import { shortened } from '../../../contract/storable.ts'
import type { Database, Op, Value } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import { identifiersOp } from '../identifiers.ts'
import { readMessageParts, readUserId } from '../item-keys.ts'
import { storedStatus } from './attempts.ts'
import type { BufferedItem } from './buffered-item.ts'
import { packRuns, type SettledItem } from './settled-runs.ts'

export interface FailedRow extends SettledItem {
  readonly key: string
  readonly reason: string
  readonly error: string
  readonly answer: string | undefined
  readonly status?: number | undefined
}

/** An item with a final outcome. */
export interface FinalItem {
  readonly item: BufferedItem
  readonly settled: SettledItem
  /** The row for Failed Actions, if the item failed. */
  readonly failed?: FailedRow
}

export interface PostponedItem {
  readonly item: BufferedItem
  readonly at: number
}

export interface Settlement {
  readonly items: readonly BufferedItem[]
  readonly settled: readonly SettledItem[]
  readonly failed: readonly FailedRow[]
  /** False: the lane keeps only cancelled and replayed items in Failed Actions. Default: true. */
  readonly keepFailed?: boolean
}

// One range of the primary key covers many rows. The `in` that both engines know takes PostgreSQL four times as long.
const range = { lane: 'text', due_at: 'bigint', first: 'bigint', last: 'bigint' } as const
const within = 'w.lane = r.lane and w.due_at = r.due_at and w.seq between r.first and r.last'
const deleteWaiting = {
  postgres: statement('delete_settled_waiting', range)`
    delete from waiting w using ${rows} r where ${within}`,
  sqlite: statement('delete_settled_waiting', range)`
    delete from waiting where (lane, due_at, seq) in
      (select w.lane, w.due_at, w.seq from ${rows} r cross join waiting w where ${within})`,
}

const insertSettled = statement({
  name: 'settle',
  columns: { lane: 'text', first: 'bigint', last: 'bigint', state: 'bigint', at: 'bigint', detail: 'text' },
  text: (rows) => `
    insert into settled (lane, first, last, state, at, detail)
    select r.lane, r.first, r.last, r.state, r.at, r.detail from ${rows} r where true
    on conflict (lane, first) do nothing`,
})

// The row exists if the item was replayed and failed again.
const isReplayed = 'exists (select 1 from failed f where f.seq = r.seq)'
const insertFailed = statement('settle_failed', {
  seq: 'bigint',
  lane: 'text',
  key: 'text',
  activity: 'text',
  action: 'text',
  user_id: 'text',
  reason: 'text',
  error: 'text',
  rule: 'text',
  answer: 'text',
  status: 'bigint',
  call: 'text',
  attempts: 'bigint',
  at: 'bigint',
  keep: 'bigint',
})`
  insert into failed (seq, lane, key, activity, action, user_id, reason, error, rule, answer, status, call, attempts, at, state)
  select r.seq, r.lane, r.key, r.activity, r.action, r.user_id, r.reason, r.error, r.rule, r.answer, r.status, r.call,
    r.attempts, r.at, 0
  from ${rows} r where r.keep = 1 or ${isReplayed}
  on conflict (seq) do update set reason = excluded.reason, error = excluded.error, rule = excluded.rule,
    answer = excluded.answer, status = excluded.status, call = excluded.call, attempts = excluded.attempts, at = excluded.at, state = 0`

const updateWaiting = statement({
  name: 'postpone',
  columns: { lane: 'text', due_at: 'bigint', seq: 'bigint', later: 'bigint', attempt: 'bigint' },
  text: (rows) => `
    update waiting set due_at = r.later, attempt = r.attempt from ${rows} r
    where waiting.lane = r.lane and waiting.due_at = r.due_at and waiting.seq = r.seq`,
})

/** Operations that settle these items, without the writes of their outcomes. */
export function settleOps(
  engine: Database['engine'],
  lane: string,
  { items, settled, failed, keepFailed = true }: Settlement,
  now: number,
): Op[] {
  const bySeq = [...settled].sort((a, b) => a.seq - b.seq)
  const ops: Op[] = [
    op(deleteWaiting[engine], toRanges(lane, items)),
    op(insertSettled, packRuns(bySeq), ({ first, last, state, detail }) => [lane, first, last, state, now, detail]),
    identifiersOp(lane, bySeq),
  ]
  if (failed.length > 0) ops.push(op(insertFailed, failed, (each) => failedRow(lane, each, now, keepFailed)))
  return ops
}

/** Stores the time of these items' next attempt, and the number of attempts so far. */
export function postponeOp(lane: string, postponed: readonly PostponedItem[]): Op {
  return op(updateWaiting, postponed, ({ item, at }) => [lane, item.dueAt, item.seq, at, item.attempt - 1])
}

/** Merges items with consecutive seqs into ranges. */
function toRanges(lane: string, items: readonly BufferedItem[]): Value[][] {
  const ranges: [string, number, number, number][] = []
  for (const { seq, dueAt } of [...items].sort((a, b) => a.seq - b.seq)) {
    const last = ranges.at(-1)
    if (last && last[1] === dueAt && last[3] === seq - 1) last[3] = seq
    else ranges.push([lane, dueAt, seq, seq])
  }
  return ranges
}

function failedRow(lane: string, failed: FailedRow, now: number, keepFailed: boolean): Value[] {
  const parts = readMessageParts(failed.key)
  return [
    failed.seq,
    lane,
    failed.key,
    parts?.activityId ?? null,
    parts?.actionId ?? null,
    readUserId(failed.key),
    shortened(failed.reason, 100),
    shortened(failed.error),
    shortened(failed.rule),
    failed.answer === undefined ? null : shortened(failed.answer),
    storedStatus(failed.status),
    failed.call ?? null,
    failed.attempt,
    now,
    keepFailed || failed.reason === 'cancelled' ? 1 : 0,
  ]
}
