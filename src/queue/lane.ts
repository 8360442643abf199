// A lane served: owned by one process at a time, taken over when the owner is gone.

import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Database, Ownership } from '../store/database.ts'
import type { Why } from './dispatch.ts'
import { readLaneState } from './lane-state.ts'
import { resumeLane } from './pauses.ts'
import type { Handle, Lane, LaneService } from './queue.ts'
import type { Hint } from './reader.ts'
import { createReign, type Reign } from './reign.ts'
import { laneTopic, replayTopic } from './topic.ts'

export interface ServedLane extends LaneService {
  /** Whether this process owns it now: then a hint here is enough. */
  readonly owned: boolean
  hint(what: Hint): void
  /** Why this item waits, as far as this process knows. */
  why(seq: number): Why | undefined
}

/** How often a lane that another process owns is asked for. */
const askEveryMs = 1_000
/** What calls get to notice that they are aborted. */
const abortMs = 500

/**
 * Owns the lane as soon as it can, reads ahead, calls `handle` with batches and settles what it answers, until stopped.
 */
export function serveLane(database: Database, lane: Lane, handle: Handle): ServedLane {
  let current: { readonly ownership: Ownership; readonly reign: Reign; readonly aborting: AbortController } | undefined
  let unlisten: (() => void)[] = []

  const owning = createLoop({
    name: `owning ${lane.name}`,
    turn: async () => {
      if (current) return Number.POSITIVE_INFINITY
      const ownership = await database.own(lane.name)
      if (!ownership) return askEveryMs
      const { lost } = ownership
      if (lost.aborted) return 0
      const aborting = new AbortController()
      const reign = createReign({ database, lane, handle, lost, signal: aborting.signal })
      current = { ownership, reign, aborting }
      emit('lane.owned', { lane: lane.name })
      lost.addEventListener('abort', () => void drop(reign), { once: true })
      return Number.POSITIVE_INFINITY
    },
  })

  // Running calls end without settling: another owner may have taken their items already.
  async function drop(reign: Reign): Promise<void> {
    if (current?.reign !== reign) return
    emit('lane.lost', { lane: lane.name })
    await reign.end()
    current = undefined
    owning.wake()
  }

  function hint(what: Hint): void {
    if (current) current.reign.hint(what)
    else owning.wake()
  }

  return {
    name: lane.name,
    get owned() {
      return current !== undefined && !current.ownership.lost.aborted
    },
    hint,
    start() {
      unlisten = [
        database.onWake(laneTopic(lane.name), () => hint('put')),
        database.onWake(replayTopic(lane.name), () => hint('replayed')),
      ]
      owning.start()
    },
    async stop(withinMs = 10_000) {
      for (const end of unlisten.splice(0)) end()
      await owning.stop()
      if (!current) return
      const { ownership, reign, aborting } = current
      const finished = reign.finish()
      if (!(await within(finished, withinMs))) {
        aborting.abort()
        await within(finished, abortMs)
      }
      await reign.end()
      await ownership.release()
      current = undefined
    },
    state: () => readLaneState(database, lane.name, current?.reign),
    why(seq) {
      const { paused, dispatch } = current?.reign ?? {}
      return paused === undefined ? dispatch?.why(seq) : { reason: 'misconfigured', error: paused }
    },
    async resume() {
      await resumeLane(database, lane.name)
      await current?.reign.lookAtPause()
    },
  }
}

async function within(done: Promise<void>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = clock.setTimeout(() => late.resolve(false), ms)
  try {
    return await Promise.race([done.then(() => true), late.promise])
  } finally {
    clock.clearTimeout(timer)
  }
}
