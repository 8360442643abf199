// Reads the outcomes of items by their numbers.

import { present } from '../runtime/present.ts'
import type { Database } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import { isMessage } from './item-keys.ts'
import { type SettledItem, type SettledRun, unpackRun } from './lane/settled-runs.ts'
import type { WaitReason } from './lane/wait-reasons.ts'
import type { CountedItems, Item, ItemOutcome } from './queue.ts'
import { type SettledState, settledState } from './tables.ts'

const findRuns = statement<{ seq: number; lane: string; key: string; first: number | null; ref: string | null }>({
  name: 'find_runs',
  columns: { seq: 'bigint' },
  text: (rows) => `
    select i.seq, i.lane, i.key, (select max(s.first) from settled s where s.lane = i.lane and s.first <= i.seq) as first,
      (select max(d.ref) from identifiers d where d.seq = i.seq and d.replayed_at is null) as ref
    from ${rows} r join items i on i.seq = r.seq`,
})

const selectRuns = statement<SettledRun & { lane: string }>('select_runs', { lane: 'text', first: 'bigint' })`
  select s.lane, s.first, s.last, s.state, s.detail from ${rows} r join settled s on s.lane = r.lane and s.first = r.first`

/** Finds the reason why an item waits, if this process knows it. */
export type FindWaitReason = (item: Pick<Item, 'lane' | 'seq' | 'key'>) => WaitReason | undefined

/** Reads outcomes in the order of `seqs`, without unknown numbers. */
export async function readOutcomes(
  database: Database,
  seqs: readonly number[],
  findWaitReason: FindWaitReason,
): Promise<ItemOutcome[]> {
  if (seqs.length === 0) return []
  const items = await database.read(op(findRuns, [...new Set(seqs)], (seq) => [seq]))
  const runKeys = new Map<string, [string, number]>()
  for (const { lane, first } of items) if (first !== null) runKeys.set(`${lane} ${first}`, [lane, first])
  const runs = new Map<string, { readonly last: number; readonly itemAt: ReturnType<typeof unpackRun> }>()
  if (runKeys.size > 0) {
    for (const run of await database.read(op(selectRuns, [...runKeys.values()]))) {
      runs.set(`${run.lane} ${run.first}`, { last: run.last, itemAt: unpackRun(run) })
    }
  }
  const outcomes = new Map<number, ItemOutcome>()
  for (const { seq, lane, key, first, ref } of items) {
    const run = runs.get(`${lane} ${first}`)
    outcomes.set(
      seq,
      run && seq <= run.last
        ? toOutcome({ lane, key, ref }, run.itemAt(seq))
        : { seq, lane, category: 'waiting', ...findWaitReason({ lane, seq, key }) },
    )
  }
  return seqs.flatMap((seq) => outcomes.get(seq) ?? [])
}

function toOutcome(
  { lane, key, ref }: { readonly lane: string; readonly key: string; readonly ref: string | null },
  { seq, state, attempt, rule, call, reason, error }: Omit<SettledItem, 'ref'>,
): ItemOutcome {
  const category = categoryOf(state)
  return {
    seq,
    lane,
    category,
    attempts: attempt,
    rule,
    ...(category === 'successful' && ref === null && isMessage(key) && { untracked: true }),
    ...present({ ref, call, reason, error }),
  }
}

const categoryOf = (state: SettledState): 'successful' | 'failed' =>
  state === settledState.successful ? 'successful' : 'failed'

const selectCounts = statement<CountedItems>('count_items', {})`
  select c.lane, c.category, sum(c.n) as items from (
    select c.scope as lane, case when c.name like 'paused %' then 'paused' else c.name end as category, c.n
    from lane_counts c) c
  group by c.lane, c.category having sum(c.n) <> 0`

/** Counts the items of each lane and category. */
export function countItems(database: Database): Promise<readonly CountedItems[]> {
  return database.readMerged(op(selectCounts, [[]]))
}
