// Settling: what became of items and the rows their outcomes bring along, in one transaction.

import { shortened } from '../contract/storable.ts'
import type { Database, Op, Value } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { identifiersOp } from './identifiers.ts'
import { partsOf, userOf } from './parts.ts'
import type { Row } from './row.ts'
import { pack, type Settled } from './run.ts'

export interface FailedRow extends Settled {
  readonly key: string
  readonly reason: string
  readonly error: string
  readonly answer: string | undefined
}

export interface Settlement {
  readonly rows: readonly Row[]
  readonly settled: readonly Settled[]
  /** Those for Failed Actions; empty for a lane that keeps none. */
  readonly failed: readonly FailedRow[]
}

// A range of the primary key, one row for many: with `in`, which both engines know, PostgreSQL takes four times as long.
const range = { lane: 'text', due_at: 'bigint', first: 'bigint', last: 'bigint' } as const
const within = 'w.lane = r.lane and w.due_at = r.due_at and w.seq between r.first and r.last'
const deleteWaiting = {
  postgres: statement({
    name: 'settle_waiting',
    rank: 44,
    columns: range,
    text: (rows) => `delete from waiting w using ${rows} r where ${within}`,
  }),
  sqlite: statement({
    name: 'settle_waiting',
    rank: 44,
    columns: range,
    text: (rows) => `
      delete from waiting where (lane, due_at, seq) in
        (select w.lane, w.due_at, w.seq from ${rows} r cross join waiting w where ${within})`,
  }),
}

const insertSettled = statement({
  name: 'settle',
  rank: 45,
  columns: { lane: 'text', first: 'bigint', last: 'bigint', state: 'bigint', at: 'bigint', detail: 'text' },
  text: (rows) => `
    insert into settled (lane, first, last, state, at, detail)
    select r.lane, r.first, r.last, r.state, r.at, r.detail from ${rows} r where true
    on conflict (lane, first) do nothing`,
})

const insertFailed = statement({
  name: 'settle_failed',
  rank: 46,
  columns: {
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
    call: 'text',
    attempts: 'bigint',
    at: 'bigint',
  },
  // It may be there already: replayed, and failed again.
  text: (rows) => `
    insert into failed (seq, lane, key, activity, action, user_id, reason, error, rule, answer, call, attempts, at, state)
    select r.seq, r.lane, r.key, r.activity, r.action, r.user_id, r.reason, r.error, r.rule, r.answer, r.call, r.attempts, r.at, 0
    from ${rows} r where true
    on conflict (seq) do update set reason = excluded.reason, error = excluded.error, rule = excluded.rule,
      answer = excluded.answer, call = excluded.call, attempts = excluded.attempts, at = excluded.at, state = 0`,
})

const updateWaiting = statement({
  name: 'put_off',
  rank: 44,
  columns: { lane: 'text', due_at: 'bigint', seq: 'bigint', later: 'bigint', attempt: 'bigint' },
  text: (rows) => `
    update waiting set due_at = r.later, attempt = r.attempt from ${rows} r
    where waiting.lane = r.lane and waiting.due_at = r.due_at and waiting.seq = r.seq`,
})

/** The ops that settle, without the writes that came with the outcomes. */
export function settleOps(
  engine: Database['engine'],
  lane: string,
  { rows, settled, failed }: Settlement,
  now: number,
): Op[] {
  const bySeq = [...settled].sort((a, b) => a.seq - b.seq)
  const ops: Op[] = [
    op(deleteWaiting[engine], toRanges(lane, rows)),
    op(
      insertSettled,
      pack(bySeq).map(({ first, last, state, detail }) => [lane, first, last, state, now, detail]),
    ),
    identifiersOp(lane, bySeq),
  ]
  if (failed.length > 0)
    ops.push(
      op(
        insertFailed,
        failed.map((each) => failedRow(lane, each, now)),
      ),
    )
  return ops
}

/** Writes down that these rows wait until later, with the attempts they have had. */
export function putOffOp(lane: string, rows: readonly { readonly row: Row; readonly at: number }[]): Op {
  return op(
    updateWaiting,
    rows.map(({ row, at }) => [lane, row.dueAt, row.seq, at, row.attempt - 1]),
  )
}

/** Rows with consecutive seqs become one range. */
function toRanges(lane: string, rows: readonly Row[]): Value[][] {
  const ranges: [string, number, number, number][] = []
  for (const { seq, dueAt } of [...rows].sort((a, b) => a.seq - b.seq)) {
    const last = ranges.at(-1)
    if (last && last[1] === dueAt && last[3] === seq - 1) last[3] = seq
    else ranges.push([lane, dueAt, seq, seq])
  }
  return ranges
}

function failedRow(lane: string, failed: FailedRow, now: number): Value[] {
  const parts = partsOf(failed.key)
  return [
    failed.seq,
    lane,
    failed.key,
    parts?.activityId ?? null,
    parts?.actionId ?? null,
    userOf(failed.key),
    failed.reason,
    shortened(failed.error),
    shortened(failed.rule),
    failed.answer === undefined ? null : shortened(failed.answer),
    failed.call ?? null,
    failed.attempt,
    now,
  ]
}
