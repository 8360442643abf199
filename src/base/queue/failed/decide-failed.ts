// Dismisses or replays failed items. Each page is one commit, so a process that is killed leaves each item either decided or not.

import { clock } from '../../runtime/clock.ts'
import { random } from '../../runtime/random.ts'
import type { Database, Value } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import { archiveFailed } from '../lane/attempts.ts'
import type { DecidedItems, Decision, FailedFilter, FailedPreview } from '../queue.ts'
import { replayTopic } from '../wake-topics.ts'
import { createGroups, readFailedGroups } from './failed-counts.ts'
import { type MatchedItem, matchFailed, rowsOfCall } from './failed-filter.ts'
import { failedState } from './failed-state.ts'

// Ranges of consecutive numbers: for a list of numbers PostgreSQL scans the whole table.
const range = { lane: 'text', first: 'bigint', last: 'bigint' } as const

// Updates only rows whose state has not changed since the match, so that of two simultaneous decisions only one applies.
const updateFailed = statement<{ seq: number }>('decide_failed', {
  ...range,
  was: 'bigint',
  state: 'bigint',
  replays: 'bigint',
  decision: 'text',
  decided_by: 'text',
  at: 'bigint',
})`
  update failed set state = r.state, replays = failed.replays + r.replays, decision = r.decision, decided_by = r.decided_by,
    decided_at = r.at
  from ${rows} r where failed.seq between r.first and r.last and failed.lane = r.lane and failed.state = r.was
  returning failed.seq as seq`

const decided = { ...range, decision: 'text' } as const
const isDecided = 'f.seq between r.first and r.last and f.lane = r.lane and f.decision = r.decision'

const replayArchive = archiveFailed(decided, isDecided)

// Each item is due one step (in microseconds) after the item before it.
const replayWaiting = statement('replay_waiting', { ...decided, due_at: 'bigint', step: 'bigint' })`
  insert into waiting (lane, due_at, seq, attempt)
  select f.lane, r.due_at + (f.seq - r.first) * r.step / 1000, f.seq, 0 from ${rows} r cross join failed f where ${isDecided}
  on conflict do nothing`

const replaySettled = statement('replay_settled', decided)`
  delete from settled where (lane, first) in (select f.lane, f.seq from ${rows} r cross join failed f where ${isDecided})`

// The next attempt brings a new identifier. The message is still found by the old one.
const replayIdentifiers = statement('replay_identifiers', decided)`
  update identifiers set replayed_at = (select f.decided_at from failed f where f.seq = identifiers.seq)
  where replayed_at is null and seq in (select f.seq from ${rows} r cross join failed f where ${isDecided})`

/** A due time in the past: the item is due at once. */
const dueAtOnce = 1
const pageItems = 1_000
/** A call that has decided this many items returns, and says where to continue. */
const itemsOfCall = 20_000

/** Where a decision continues: the time of the first call, the number of items decided since, and the last number read. */
interface Cursor {
  readonly startedAt: number
  readonly position: number
  readonly seq: number
}

export const cursorPattern = String.raw`^\d{1,15}\.\d{1,15}\.\d{1,15}$`

export function readCursor(text: string | undefined, now: number): Cursor {
  if (text === undefined) return { startedAt: now, position: 0, seq: 0 }
  const [startedAt, position, seq] = text.split('.').map(Number) as [number, number, number]
  return { startedAt: Math.min(startedAt, now), position, seq }
}

export const writeCursor = ({ startedAt, position, seq }: Cursor): string => `${startedAt}.${position}.${seq}`

const decisions = { dismiss: 'dismissed', replay: 'replayed' } as const

/**
 * Dismisses or replays the matching items, page by page. Default state: pending. Replayed items do not change. If there may be
 * more items, `next` is the cursor of the next call.
 */
export async function decideFailed(
  database: Database,
  filter: FailedFilter,
  action: 'dismiss' | 'replay',
  { perSecond, by, after, also = () => [] }: Decision,
): Promise<DecidedItems> {
  const was = filter.state ?? 'pending'
  const state = decisions[action]
  if (was === 'replayed' || was === state) return { count: 0 }
  const now = clock.now()
  const { startedAt, position, seq } = readCursor(after, clock.steady())
  const step = perSecond === undefined ? 0 : Math.round(1_000_000 / perSecond)
  let count = 0
  let last = seq
  for (;;) {
    const { items, next } = await matchFailed(database, { ...filter, state: was }, { after: last, limit: pageItems })
    count += await decidePage(items, position + count)
    if (next === undefined) return { count }
    if (count >= itemsOfCall || items.length < pageItems)
      return { count, next: writeCursor({ startedAt, position: position + count, seq: next }) }
    last = next
  }

  async function decidePage(items: readonly MatchedItem[], itemsBefore: number): Promise<number> {
    if (items.length === 0) return 0
    const decision = random.uuid()
    const ranges = toLaneRanges(items)
    const replays = action === 'replay' ? 1 : 0
    const update = op(updateFailed, ranges, (each) => [
      ...each,
      failedState[was],
      failedState[state],
      replays,
      decision,
      by ?? null,
      now,
    ])
    const rows = ranges.map((each) => [...each, decision])
    const lanes = new Set(items.map(({ lane }) => lane))
    const replay =
      action === 'replay'
        ? [
            op(replayArchive, rows),
            op(replayWaiting, toReplayRows(ranges, decision, itemsBefore)),
            op(replaySettled, rows),
            op(replayIdentifiers, rows),
            ...[...lanes].map((lane) => database.wake(replayTopic(lane))),
          ]
        : []
    const [changed] = await database.commit([update, ...replay, ...also(items.length)])
    return changed.length
  }

  /** Adds the due times: all at once, or one item after the other at the given rate. */
  function toReplayRows(ranges: readonly LaneRange[], decision: string, itemsBefore: number): Value[][] {
    let index = itemsBefore
    return ranges.map(([lane, first, last]) => {
      const due = perSecond === undefined ? dueAtOnce : startedAt + Math.floor((index * step) / 1_000)
      index += last - first + 1
      return [lane, first, last, decision, due, step]
    })
  }
}

type LaneRange = readonly [lane: string, first: number, last: number]

/** Merges consecutive numbers of a lane into ranges. */
function toLaneRanges(items: readonly MatchedItem[]): LaneRange[] {
  const ranges: [string, number, number][] = []
  for (const { seq, lane } of items) {
    const last = ranges.at(-1)
    if (last && last[0] === lane && last[2] === seq - 1) last[2] = seq
    else ranges.push([lane, seq, seq])
  }
  return ranges
}

/** Counts the items that a decision would change, by group. If there may be more items, `next` is the cursor of the next call. */
export async function previewFailed(
  database: Database,
  filter: FailedFilter,
  action: 'dismiss' | 'replay',
  after?: string,
): Promise<FailedPreview> {
  const { state = 'pending' } = filter
  if (state === 'replayed' || state === decisions[action]) return { count: 0, groups: [] }
  if (isGroupFilter(filter)) {
    const groups = await readFailedGroups(database, { ...filter, state })
    return { count: groups.reduce((sum, group) => sum + group[state], 0), groups }
  }
  const { startedAt, position, seq } = readCursor(after, clock.steady())
  const { items, next } = await matchFailed(database, { ...filter, state }, { after: seq, limit: rowsOfCall })
  const groups = createGroups()
  for (const item of items) groups.add(item, state, 1)
  const count = items.length
  const cursor = next === undefined ? {} : { next: writeCursor({ startedAt, position: position + count, seq: next }) }
  return { count, groups: groups.sorted(), ...cursor }
}

/** Whether the filter has only members that the counts know. */
function isGroupFilter({ user, since, until, contains, seqs }: FailedFilter): boolean {
  return [user, since, until, contains, seqs].every((member) => member === undefined)
}
