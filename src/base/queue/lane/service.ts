// Serves a lane: runs a session of the lane while this process owns it. The division decides when that is.

import { emit } from '../../runtime/events.ts'
import { unlessLate } from '../../runtime/within.ts'
import type { Database } from '../../store/database.ts'
import { StoreUnavailable } from '../../store/store-unavailable.ts'
import { itself, scopesOf } from '../controls/controls.ts'
import { brandOf } from '../lane-name.ts'
import { phraseMoved } from '../owners/brand-moves.ts'
import type { DividedLane, Division } from '../owners/division.ts'
import type { Item, Lane, LaneHandler, LaneService } from '../queue.ts'
import { controlTopic, laneTopic, replayTopic, transactionalTopic } from '../wake-topics.ts'
import type { ReadAheadBudget } from './read-ahead-budget.ts'
import type { NewItemSource } from './reader.ts'
import { createLaneSession, type LaneSession } from './session.ts'
import { readStored, showLaneState } from './state.ts'
import type { WaitReason } from './wait-reasons.ts'

export interface ServedLane extends LaneService {
  /** Whether this process owns the lane now. */
  readonly owned: boolean
  wake(source: NewItemSource): void
  /** Resolves when this process, if it owns the lane, has applied its stored controls. */
  refreshControls(): Promise<void>
  /** Why this item is not delivered yet, if this process knows. */
  findWaitReason(item: Pick<Item, 'seq' | 'key'>): WaitReason | undefined
}

/** The grace period of running calls after their signal aborts. */
const abortGraceMs = 500
/** A lane that is given back drains longer than its calls may take, so that no call is aborted. */
const drainExtraMs = 5_000

/** The parts of a queue that its lanes share. */
interface QueueParts {
  readonly database: Database
  readonly division: Division
  readonly readAhead: ReadAheadBudget
}

interface RunningSession {
  readonly session: LaneSession
  readonly lost: AbortController
  readonly callAbort: AbortController
}

/** While this process owns the lane, calls `handle` with batches and settles the outcomes. */
export function createLaneService(
  { database, division, readAhead }: QueueParts,
  lane: Lane,
  handle: LaneHandler,
): ServedLane {
  let current: RunningSession | undefined
  let unlisteners: (() => void)[] = []

  const divided: DividedLane = {
    name: lane.name,
    get busy() {
      return current !== undefined
    },
    begin() {
      const lost = new AbortController()
      const callAbort = new AbortController()
      const session = createLaneSession({
        database,
        readAhead,
        lane,
        handle,
        lost: lost.signal,
        signal: callAbort.signal,
      })
      current = { session, lost, callAbort }
      emit('lane.owned', { lane: lane.name })
    },
    async end(withinMs = lane.timeoutMs + drainExtraMs) {
      if (!current) return
      const { session, callAbort } = current
      const drained = session.drain().then(() => true)
      if (!(await unlessLate(withinMs, drained))) {
        callAbort.abort()
        await unlessLate(abortGraceMs, drained)
      }
      await session.end()
      if (current?.session !== session) return
      current = undefined
      emit('lane.returned', { lane: lane.name })
    },
    // The outcomes of running calls are dropped: another process may already have taken over their items.
    async drop() {
      if (!current) return
      const { session, lost } = current
      lost.abort()
      emit('lane.lost', { lane: lane.name })
      await session.end()
      if (current?.session === session) current = undefined
    },
    sweep() {
      current?.session.sweep()
    },
  }

  function wake(source: NewItemSource): void {
    current?.session.wakeReader(source)
  }

  return {
    name: lane.name,
    lane,
    get owned() {
      return current !== undefined && !current.lost.signal.aborted
    },
    wake,
    start() {
      division.add(divided)
      unlisteners = [
        database.onWake(laneTopic(lane.name), () => wake('enqueued')),
        database.onWake(transactionalTopic(lane.name), () => wake('transactional')),
        database.onWake(replayTopic(lane.name), () => wake('replayed')),
        ...scopesOf(lane.name).map((scope) =>
          database.onWake(controlTopic(scope), () => current?.session.controls.wake()),
        ),
      ]
    },
    async stop(withinMs = 10_000) {
      for (const unlisten of unlisteners.splice(0)) unlisten()
      await division.remove(divided, withinMs)
    },
    async state() {
      const brand = brandOf(lane.name)
      const to = division.movedTo(brand)
      if (to !== undefined) throw new StoreUnavailable(phraseMoved(brand, to))
      return showLaneState(database, lane, await readStored(database, lane.name), current?.session)
    },
    findWaitReason({ seq, key }) {
      const { controls, dispatcher } = current?.session ?? {}
      const pause = controls?.pause ?? controls?.findItemPause?.(key)
      if (pause) return phrasePause(pause)
      return dispatcher?.findWaitReason(seq)
    },
    refreshControls: async () => current?.session.controls.refresh(),
  }
}

/** The reason of messages that wait because of a pause. */
function phrasePause({ by, reason }: { readonly by: string; readonly reason: string }): WaitReason {
  return by === itself
    ? { reason: 'misconfigured', error: reason }
    : { reason: 'paused', error: `paused by ${by}: ${reason}` }
}
