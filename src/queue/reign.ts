// One ownership of a lane, from taking it to losing it or giving it back. All that is in memory belongs to it.

import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Database } from '../store/database.ts'
import { createDispatch, type Dispatch } from './dispatch.ts'
import { findPause, pauseLane } from './pauses.ts'
import type { Handle, Lane } from './queue.ts'
import { createReader, type Hint } from './reader.ts'
import { createSettler } from './settler.ts'
import { createStock } from './stock.ts'

export interface Reign {
  readonly dispatch: Dispatch
  /** Why the lane waits for a person. */
  readonly paused: string | undefined
  /** Something waits, or a person resumed the lane. */
  hint(what: Hint): void
  /** Looks whether the lane is still paused. */
  lookAtPause(): Promise<void>
  /** Begins no new calls; resolves when those that run are answered and settled. */
  finish(): Promise<void>
  /** Drops everything. */
  end(): Promise<void>
}

export interface ReignOptions {
  readonly database: Database
  readonly lane: Lane
  readonly handle: Handle
  readonly signal: AbortSignal
  readonly lost: AbortSignal
}

const looking = 'looking whether it is paused'
const pausing = 'being paused'

export function createReign({ database, lane, handle, signal, lost }: ReignOptions): Reign {
  const stock = createStock()
  // Until it is known that nobody paused the lane, nothing goes.
  let paused: string | undefined = looking
  let finishing = false
  const idlers: (() => void)[] = []

  // What is not settled by the end is for the next owner: nobody goes on trying after it.
  const over = new AbortController()
  const settler = createSettler({
    database,
    lane: lane.name,
    lost: AbortSignal.any([lost, over.signal]),
    onDone(rows) {
      stock.forget(rows)
      wake()
    },
  })
  const dispatch = createDispatch({ lane, handle, stock, settler, signal, lost, wake, pause })
  const reader = createReader(database, lane.name, stock, lane.max * lane.concurrency)

  const calling = createLoop({
    name: `calling ${lane.name}`,
    turn: () => {
      if (lost.aborted) return Number.POSITIVE_INFINITY
      const restMs = paused === undefined && !finishing ? dispatch.turn(clock.now()) : dispatch.endOverdue(clock.now())
      if (reader.hungry) reading.wake()
      if (dispatch.calls === 0 && settler.size === 0) for (const idle of idlers.splice(0)) idle()
      return restMs
    },
  })
  const reading = createLoop({
    name: `reading ${lane.name}`,
    turn: async () => {
      if (lost.aborted || finishing) return Number.POSITIVE_INFINITY
      if (paused !== undefined) await lookAtPause()
      const restMs = await reader.turn(clock.now())
      calling.wake()
      return restMs
    },
  })

  function wake(): void {
    calling.wake()
  }

  async function lookAtPause(): Promise<void> {
    // Not written down yet.
    if (paused === pausing) return
    const found = await findPause(database, lane.name)
    if (paused !== undefined && paused !== looking && found === undefined) emit('lane.resumed', { lane: lane.name })
    paused = found
  }

  function pause(reason: string): void {
    if (paused !== undefined) return
    paused = pausing
    emit('lane.paused', { lane: lane.name, reason })
    const write = async (): Promise<void> => {
      try {
        await pauseLane(database, lane.name, reason)
        paused = reason
      } catch {
        if (!lost.aborted && !over.signal.aborted) clock.setTimeout(write, 1_000)
      }
    }
    void write()
  }

  function hint(what: Hint): void {
    reader.hint(what)
    reading.wake()
  }

  reading.start()
  calling.start()
  return {
    dispatch,
    get paused() {
      return paused === looking ? undefined : paused
    },
    hint,
    async lookAtPause() {
      await lookAtPause()
      reading.wake()
    },
    async finish() {
      finishing = true
      await new Promise<void>((resolve) => {
        idlers.push(resolve)
        calling.wake()
      })
      await settler.idle()
    },
    async end() {
      finishing = true
      over.abort()
      await Promise.all([calling.stop(), reading.stop()])
    },
  }
}
