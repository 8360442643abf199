// Serves a lane. One process owns it at a time; another process takes it over when the owner is gone.

import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Database, Ownership } from '../store/database.ts'
import type { WaitReason } from './dispatcher.ts'
import type { NewItemSource } from './lane-reader.ts'
import { createLaneSession, type LaneSession } from './lane-session.ts'
import { readLaneState } from './lane-state.ts'
import { resumeLane } from './pauses.ts'
import type { Lane, LaneHandler, LaneService } from './queue.ts'
import { laneTopic, replayTopic } from './wake-topics.ts'

export interface ServedLane extends LaneService {
  /** Whether this process owns the lane now. */
  readonly owned: boolean
  wake(source: NewItemSource): void
  /** Why this item is not delivered yet, if this process knows. */
  findWaitReason(seq: number): WaitReason | undefined
}

/** How often this process tries to own a lane that another process owns. */
const tryOwnEveryMs = 1_000
/** The grace period of running calls after their signal aborts. */
const abortGraceMs = 500

/** Owns the lane as soon as possible, calls `handle` with batches and settles the outcomes, until stopped. */
export function serveLane(database: Database, lane: Lane, handle: LaneHandler): ServedLane {
  let current:
    | { readonly ownership: Ownership; readonly session: LaneSession; readonly callAbort: AbortController }
    | undefined
  let unlisteners: (() => void)[] = []

  const ownLoop = createLoop({
    name: `owning ${lane.name}`,
    turn: async () => {
      if (current) return Number.POSITIVE_INFINITY
      const ownership = await database.own(lane.name)
      if (!ownership) return tryOwnEveryMs
      const { lost } = ownership
      if (lost.aborted) return 0
      const callAbort = new AbortController()
      const session = createLaneSession({ database, lane, handle, lost, signal: callAbort.signal })
      current = { ownership, session, callAbort }
      emit('lane.owned', { lane: lane.name })
      lost.addEventListener('abort', () => void dropSession(session), { once: true })
      return Number.POSITIVE_INFINITY
    },
  })

  // The outcomes of running calls are dropped: another owner may already have taken over their items.
  async function dropSession(session: LaneSession): Promise<void> {
    if (current?.session !== session) return
    emit('lane.lost', { lane: lane.name })
    await session.end()
    current = undefined
    ownLoop.wake()
  }

  function wake(source: NewItemSource): void {
    if (current) current.session.wakeReader(source)
    else ownLoop.wake()
  }

  return {
    name: lane.name,
    get owned() {
      return current !== undefined && !current.ownership.lost.aborted
    },
    wake,
    start() {
      unlisteners = [
        database.onWake(laneTopic(lane.name), () => wake('enqueued')),
        database.onWake(replayTopic(lane.name), () => wake('replayed')),
      ]
      ownLoop.start()
    },
    async stop(withinMs = 10_000) {
      for (const unlisten of unlisteners.splice(0)) unlisten()
      await ownLoop.stop()
      if (!current) return
      const { ownership, session, callAbort } = current
      const drained = session.drain()
      if (!(await resolvesWithin(drained, withinMs))) {
        callAbort.abort()
        await resolvesWithin(drained, abortGraceMs)
      }
      await session.end()
      await ownership.release()
      current = undefined
    },
    state: () => readLaneState(database, lane.name, current?.session),
    findWaitReason(seq) {
      const { pauseReason, dispatcher } = current?.session ?? {}
      if (pauseReason !== undefined) return { reason: 'misconfigured', error: pauseReason }
      return dispatcher?.findWaitReason(seq)
    },
    async resume() {
      await resumeLane(database, lane.name)
      await current?.session.refreshPause()
    },
  }
}

async function resolvesWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  const timeout = Promise.withResolvers<boolean>()
  const timer = clock.setTimeout(() => timeout.resolve(false), ms)
  try {
    return await Promise.race([promise.then(() => true), timeout.promise])
  } finally {
    clock.clearTimeout(timer)
  }
}
