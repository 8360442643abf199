// Reads the outcomes of items by their numbers.

import { isUntracked } from '../contract/answer.ts'
import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import type { ItemOutcome } from './queue.ts'
import { type SettledItem, type SettledRun, unpackRun } from './settled-runs.ts'
import { type SettledState, settledState } from './tables.ts'

const findRuns = statement<{ seq: number; lane: string; first: number | null; ref: string | null }>({
  name: 'find_runs',
  rank: 48,
  columns: { seq: 'bigint' },
  text: (rows) => `
    select i.seq, i.lane, (select max(s.first) from settled s where s.lane = i.lane and s.first <= i.seq) as first,
      (select max(d.ref) from identifiers d where d.seq = i.seq) as ref
    from ${rows} r join items i on i.seq = r.seq`,
})

const selectRuns = statement<SettledRun & { lane: string }>({
  name: 'select_runs',
  rank: 48,
  columns: { lane: 'text', first: 'bigint' },
  text: (rows) => `
    select s.lane, s.first, s.last, s.state, s.detail from ${rows} r join settled s on s.lane = r.lane and s.first = r.first`,
})

/** Reads outcomes in the order of `seqs`, without unknown numbers. */
export async function readOutcomes(database: Database, seqs: readonly number[]): Promise<ItemOutcome[]> {
  if (seqs.length === 0) return []
  const items = await database.read(
    op(
      findRuns,
      [...new Set(seqs)].map((seq) => [seq]),
    ),
  )
  const runKeys = new Map<string, [string, number]>()
  for (const { lane, first } of items) if (first !== null) runKeys.set(`${lane} ${first}`, [lane, first])
  const runs = new Map<string, { readonly last: number; readonly itemAt: ReturnType<typeof unpackRun> }>()
  if (runKeys.size > 0) {
    for (const run of await database.read(op(selectRuns, [...runKeys.values()]))) {
      runs.set(`${run.lane} ${run.first}`, { last: run.last, itemAt: unpackRun(run) })
    }
  }
  const outcomes = new Map<number, ItemOutcome>()
  for (const { seq, lane, first, ref } of items) {
    const run = runs.get(`${lane} ${first}`)
    outcomes.set(
      seq,
      run && seq <= run.last ? toOutcome(lane, run.itemAt(seq), ref) : { seq, lane, category: 'waiting' },
    )
  }
  return seqs.flatMap((seq) => outcomes.get(seq) ?? [])
}

function toOutcome(
  lane: string,
  { seq, state, attempt, rule, call, reason, error }: Omit<SettledItem, 'ref'>,
  ref: string | null,
): ItemOutcome {
  return {
    seq,
    lane,
    category: categoryOf(state),
    attempts: attempt,
    rule,
    ...(isUntracked(rule) && { untracked: true }),
    ...(ref !== null && { ref }),
    ...(call !== undefined && { call }),
    ...(reason !== undefined && { reason }),
    ...(error !== undefined && { error }),
  }
}

const categoryOf = (state: SettledState): 'successful' | 'failed' =>
  state === settledState.successful ? 'successful' : 'failed'

const selectCounts = statement<{ lane: string; category: ItemOutcome['category']; items: number }>({
  name: 'count_items',
  rank: 48,
  columns: {},
  text: () => `
    select c.scope as lane, c.name as category, sum(c.n) as items from lane_counts c
    group by c.scope, c.name having sum(c.n) <> 0`,
})

/** Counts the items of each lane and category. */
export function countItems(
  database: Database,
): Promise<readonly { lane: string; category: ItemOutcome['category']; items: number }[]> {
  return database.read(op(selectCounts, [[]]))
}
