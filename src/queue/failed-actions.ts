// Failed Actions (§6.4): lists failed items, and dismisses or replays them.

import type { Reason } from '../contract/outcome.ts'
import { clock } from '../runtime/clock.ts'
import { random } from '../runtime/random.ts'
import type { Database, Value } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import type { Decision, FailedFilter, FailedItem } from './queue.ts'
import { failedState } from './tables.ts'
import { replayTopic } from './wake-topics.ts'

const filterColumns = {
  lane: 'text',
  activity: 'text',
  action: 'text',
  user_id: 'text',
  state: 'bigint',
  after: 'bigint',
  max_rows: 'bigint',
} as const
const inputValue = (rows: string, column: string): string => `(select r.${column} from ${rows} r)`
// null: the filter does not restrict this column.
const matches = (rows: string): string =>
  ['lane', 'activity', 'action', 'user_id', 'state']
    .map((column) => `(${inputValue(rows, column)} is null or f.${column} = ${inputValue(rows, column)})`)
    .join(' and ')

const selectFailed = statement<
  Omit<FailedItem, 'user' | 'state' | 'decidedBy' | 'decidedAt'> & {
    user_id: string | null
    state: number
    decided_by: string | null
    decided_at: number | null
  }
>({
  name: 'list_failed',
  rank: 49,
  columns: filterColumns,
  text: (rows) => `
    select f.seq, f.lane, f.key, f.activity, f.action, f.user_id, f.reason, f.error, f.rule, f.answer, f.call, f.attempts, f.at,
      f.state, f.decided_by, f.decided_at, i.text
    from failed f join items i on i.seq = f.seq
    where ${matches(rows)} and f.seq > ${inputValue(rows, 'after')} order by f.seq limit ${inputValue(rows, 'max_rows')}`,
})

const selectMatches = statement<{ seq: number; lane: string }>({
  name: 'match_failed',
  rank: 49,
  columns: filterColumns,
  text: (rows) => `
    select f.seq, f.lane from failed f
    where ${matches(rows)} and f.seq > ${inputValue(rows, 'after')} order by f.seq limit ${inputValue(rows, 'max_rows')}`,
})

// Ranges of consecutive numbers: for a list of numbers PostgreSQL scans the whole table.
const range = { lane: 'text', first: 'bigint', last: 'bigint' } as const

// Updates only rows whose state has not changed since the match, so that of two simultaneous decisions only one applies.
const updateFailed = statement<{ seq: number }>({
  name: 'decide_failed',
  rank: 50,
  columns: { ...range, was: 'bigint', state: 'bigint', decision: 'text', decided_by: 'text', at: 'bigint' },
  text: (rows) => `
    update failed set state = r.state, decision = r.decision, decided_by = r.decided_by, decided_at = r.at
    from ${rows} r where failed.seq between r.first and r.last and failed.lane = r.lane and failed.state = r.was
    returning failed.seq as seq`,
})

const decided = { ...range, decision: 'text' } as const
const isDecided = 'f.seq between r.first and r.last and f.lane = r.lane and f.decision = r.decision'

// Each item is due one step (in microseconds) after the item before it.
const replayWaiting = statement({
  name: 'replay_waiting',
  rank: 51,
  columns: { ...decided, due_at: 'bigint', step: 'bigint' },
  text: (rows) => `
    insert into waiting (lane, due_at, seq, attempt)
    select f.lane, r.due_at + (f.seq - r.first) * r.step / 1000, f.seq, 0 from ${rows} r cross join failed f where ${isDecided}
    on conflict do nothing`,
})

const replaySettled = statement({
  name: 'replay_settled',
  rank: 52,
  columns: decided,
  text: (rows) => `
    delete from settled where (lane, first) in (select f.lane, f.seq from ${rows} r cross join failed f where ${isDecided})`,
})

// The next attempt brings a new identifier.
const replayIdentifiers = statement({
  name: 'replay_identifiers',
  rank: 52,
  columns: decided,
  text: (rows) => `
    delete from identifiers where seq in (select f.seq from ${rows} r cross join failed f where ${isDecided})`,
})

/** A due time in the past: the item is due at once. */
const dueAtOnce = 1
const pageRows = 1_000
const stateNames = ['pending', 'dismissed', 'replayed'] as const

/** Lists a page of failed items after the cursor, sorted by number. `next` is absent on the last page. */
export async function listFailed(
  database: Database,
  filter: FailedFilter,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ items: FailedItem[]; next?: number }> {
  const rows = await database.read(op(selectFailed, [filterRow(filter, after, limit)]))
  const items = rows.map(({ user_id, state, decided_by, decided_at, ...rest }) => ({
    ...rest,
    user: user_id,
    reason: rest.reason as Reason,
    state: stateNames[state] as FailedItem['state'],
    decidedBy: decided_by,
    decidedAt: decided_at,
  }))
  const last = items.at(-1)
  return last && items.length === limit ? { items, next: last.seq } : { items }
}

/** Dismisses or replays the matching items, page by page. Default state: pending. Replayed items do not change. */
export async function decideFailed(
  database: Database,
  filter: FailedFilter,
  action: 'dismiss' | 'replay',
  { perSecond, by }: Decision,
): Promise<number> {
  const was = filter.state ?? 'pending'
  const state = action === 'dismiss' ? 'dismissed' : 'replayed'
  if (was === 'replayed' || was === state) return 0
  const step = perSecond === undefined ? 0 : Math.round(1_000_000 / perSecond)
  const now = clock.now()
  let count = 0
  for (let after = 0; ; ) {
    const matched = await database.read(op(selectMatches, [filterRow({ ...filter, state: was }, after, pageRows + 1)]))
    const found = matched.slice(0, pageRows)
    const isLast = found.length === matched.length
    after = found.at(-1)?.seq ?? after
    const decision = random.uuid()
    const ranges = toRanges(found)
    const update = op(
      updateFailed,
      ranges.map((each) => [...each, failedState[was], failedState[state], decision, by ?? null, now]),
    )
    const rows = ranges.map((each) => [...each, decision])
    const lanes = new Set(found.map(({ lane }) => lane))
    const replay =
      action === 'replay'
        ? [
            op(replayWaiting, toReplayRows(ranges, decision, count)),
            op(replaySettled, rows),
            op(replayIdentifiers, rows),
            ...[...lanes].map((lane) => database.wake(replayTopic(lane))),
          ]
        : []
    // The durable commit of the last page makes the earlier pages durable too.
    const [changed] = await database.commit([update, ...replay], { durable: isLast })
    count += changed.length
    if (isLast) return count
  }

  /** Adds the due times: all at once, or one item after the other at the given rate. */
  function toReplayRows(ranges: readonly [string, number, number][], decision: string, itemsBefore: number): Value[][] {
    let position = itemsBefore
    return ranges.map(([lane, first, last]) => {
      const due = perSecond === undefined ? dueAtOnce : now + Math.floor((position * step) / 1_000)
      position += last - first + 1
      return [lane, first, last, decision, due, step]
    })
  }
}

/** Merges consecutive numbers of a lane into ranges. */
function toRanges(found: readonly { readonly seq: number; readonly lane: string }[]): [string, number, number][] {
  const ranges: [string, number, number][] = []
  for (const { seq, lane } of found) {
    const last = ranges.at(-1)
    if (last && last[0] === lane && last[2] === seq - 1) last[2] = seq
    else ranges.push([lane, seq, seq])
  }
  return ranges
}

function filterRow({ lane, activity, action, user, state }: FailedFilter, after: number, limit: number): Value[] {
  return [lane ?? null, activity ?? null, action ?? null, user ?? null, state ? failedState[state] : null, after, limit]
}
