import { clock } from '../../runtime/clock.ts'
import type { Database } from '../../store/database.ts'
import { op, statement } from '../../store/statement.ts'
import { type Control, isExpired, isOfPeople, readControls, scopesOf } from '../controls/controls.ts'
import { effectiveSettings } from '../controls/lane-settings.ts'
import { countPaused, type PausedCount, pausedDueAt, pausesItems } from '../controls/paused-items.ts'
import type { Lane, LaneState } from '../queue.ts'
import { newItemsDueAt } from '../tables.ts'
import type { LaneSession } from './session.ts'

/** Of postponed items, only this many of the next due items are read to find the oldest. */
const maxPostponedRead = 1_000

/** The time at which the oldest waiting item of the lane `r.lane` was enqueued. Transactional items are due at -1, new ones at 0. */
const oldestOfLane = `
      (select min(i.enqueued_at) from items i where i.seq in (
        select min(w.seq) from waiting w where w.lane = r.lane and w.due_at = ${newItemsDueAt.transactional}
        union all
        select min(w.seq) from waiting w where w.lane = r.lane and w.due_at = ${newItemsDueAt.others}
        union all
        select min(p.seq) from (
          select w.seq from waiting w where w.lane = r.lane and w.due_at > 0 order by w.due_at, w.seq limit ${maxPostponedRead}) p
      ))`

const countWaiting = statement<{ lane: string; items: number; oldest: number | null }>({
  name: 'lane_state',
  columns: { lane: 'text' },
  route: 'lane',
  text: (rows) => `
    select r.lane,
      (select coalesce(sum(c.n), 0) from lane_counts c where c.scope = r.lane and c.name not in ('successful', 'failed')) as items,
      ${oldestOfLane} as oldest
    from ${rows} r`,
})

const selectOldest = statement<{ lane: string; at: number | null }>('lanes_oldest', {})`
  select r.lane, ${oldestOfLane} as at from (
    select distinct c.scope as lane from lane_counts c where c.n <> 0 and c.name not in ('successful', 'failed')) r`

/** The time at which the oldest waiting item of each lane was enqueued, in epoch milliseconds. */
export async function readOldest(
  database: Database,
): Promise<readonly { readonly lane: string; readonly at: number }[]> {
  const rows = await database.read(op(selectOldest, [[]]))
  return rows.flatMap(({ lane, at }) => (at === null ? [] : [{ lane, at }]))
}

/** The state of a lane in the store. */
interface StoredState {
  readonly items: number
  readonly oldest: number | null
  readonly paused: readonly PausedCount[]
  readonly controls: readonly Control[]
}

/** Reads with all other lanes of this turn of the event loop. */
export async function readStored(database: Database, lane: string): Promise<StoredState> {
  const [[counted], paused, controls] = await Promise.all([
    database.readMerged(op(countWaiting, [[lane]])),
    countPaused(database.readMerged, lane),
    readControls(database.readMerged, scopesOf(lane)),
  ])
  return { items: counted?.items ?? 0, oldest: counted?.oldest ?? null, paused, controls }
}

/** @param session the session of this process, if it owns the lane */
export function showLaneState(
  database: Database,
  lane: Lane,
  { items, oldest, paused, controls: stored }: StoredState,
  session: LaneSession | undefined,
): LaneState {
  const { name } = lane
  const heldBackAt = new Map(paused.map(({ dueAt, items: count }) => [dueAt, count]))
  const now = clock.now()
  const controls = stored.filter((control) => isOfPeople(control) && !isExpired(control, now))
  const isPaused = controls.some(({ kind }) => kind === 'pause') || session?.controls.pause !== undefined
  const { hold, lastError } = session?.dispatcher ?? {}
  const steady = clock.steady()
  const { outage } = database
  return {
    name,
    waiting: items,
    oldestAgeMs: oldest === null ? 0 : Math.max(0, now - oldest),
    owned: session !== undefined,
    state: isPaused ? 'paused' : !session ? 'elsewhere' : hold || outage !== undefined ? 'held' : 'running',
    heldForMs: hold ? steady - hold.since : 0,
    ...(outage !== undefined && { heldReason: `the store can store nothing: ${outage}` }),
    ...(hold && { heldReason: hold.reason, nextTryAt: now + Math.max(0, hold.until - steady) }),
    inFlight: session?.dispatcher.inFlight ?? 0,
    controls,
    heldBack: new Map(controls.filter(pausesItems).map(({ id }) => [id, heldBackAt.get(pausedDueAt({ id })) ?? 0])),
    settings: effectiveSettings(lane, controls),
    ...(lastError && { lastError: lastError.error, lastErrorAt: lastError.at }),
  }
}
