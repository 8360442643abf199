// One period in which this process owns a lane. All of its state is in memory and ends with it.

import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Database } from '../store/database.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'
import { createLaneBuffer } from './lane-buffer.ts'
import { createLaneReader, type NewItemSource } from './lane-reader.ts'
import { findPause, pauseLane } from './pauses.ts'
import type { Lane, LaneHandler } from './queue.ts'
import { createSettleWriter } from './settle-writer.ts'

export interface LaneSession {
  readonly dispatcher: Dispatcher
  /** Why the lane is paused. Undefined: it is not, or the pause was not read yet. */
  readonly pauseReason: string | undefined
  /** Reads new items, and checks whether a pause has ended. */
  wakeReader(source: NewItemSource): void
  refreshPause(): Promise<void>
  /** Starts no new calls. Resolves when the running calls are answered and settled. */
  drain(): Promise<void>
  /** Stops at once and drops all unsettled results. */
  end(): Promise<void>
}

export interface LaneSessionOptions {
  readonly database: Database
  readonly lane: Lane
  readonly handle: LaneHandler
  readonly signal: AbortSignal
  readonly lost: AbortSignal
}

const pauseUnknown = 'the pause was not read yet'
const pauseNotStored = 'the pause is not stored yet'

export function createLaneSession({ database, lane, handle, signal, lost }: LaneSessionOptions): LaneSession {
  const buffer = createLaneBuffer()
  // No call starts before the pause was read.
  let pause: string | undefined = pauseUnknown
  let draining = false
  const drainListeners: (() => void)[] = []

  // After the end, the next owner sends the unsettled items: the settle writer must not retry.
  const ended = new AbortController()
  const settleWriter = createSettleWriter({
    database,
    lane,
    lost: AbortSignal.any([lost, ended.signal]),
    onCommitted(items) {
      buffer.remove(items)
      wakeCalls()
    },
  })
  const dispatcher = createDispatcher({
    lane,
    handle,
    buffer,
    settleWriter,
    signal,
    lost,
    wake: wakeCalls,
    pause: startPause,
  })
  const reader = createLaneReader(database, lane.name, buffer, lane.max * lane.concurrency)

  const callLoop = createLoop({
    name: `calling ${lane.name}`,
    turn: () => {
      if (lost.aborted) return Number.POSITIVE_INFINITY
      const mayCall = pause === undefined && !draining
      const waitMs = mayCall ? dispatcher.startCalls(clock.now()) : dispatcher.endOverdueCalls(clock.now())
      if (reader.hasWork) readLoop.wake()
      if (dispatcher.calls === 0 && settleWriter.size === 0) for (const notify of drainListeners.splice(0)) notify()
      return waitMs
    },
  })
  const readLoop = createLoop({
    name: `reading ${lane.name}`,
    turn: async () => {
      if (lost.aborted || draining) return Number.POSITIVE_INFINITY
      if (pause !== undefined) await readPause()
      const waitMs = await reader.readItems(clock.now())
      callLoop.wake()
      return waitMs
    },
  })

  function wakeCalls(): void {
    callLoop.wake()
  }

  async function readPause(): Promise<void> {
    if (pause === pauseNotStored) return
    const stored = await findPause(database, lane.name)
    if (pause !== undefined && pause !== pauseUnknown && stored === undefined) emit('lane.resumed', { lane: lane.name })
    pause = stored
  }

  function startPause(reason: string): void {
    if (pause !== undefined) return
    pause = pauseNotStored
    emit('lane.paused', { lane: lane.name, reason })
    const storePause = async (): Promise<void> => {
      try {
        await pauseLane(database, lane.name, reason)
        pause = reason
      } catch {
        if (!lost.aborted && !ended.signal.aborted) clock.setTimeout(storePause, 1_000)
      }
    }
    void storePause()
  }

  readLoop.start()
  callLoop.start()
  return {
    dispatcher,
    get pauseReason() {
      return pause === pauseUnknown ? undefined : pause
    },
    wakeReader(source) {
      reader.expectItems(source)
      readLoop.wake()
    },
    async refreshPause() {
      await readPause()
      readLoop.wake()
    },
    async drain() {
      draining = true
      await new Promise<void>((resolve) => {
        drainListeners.push(resolve)
        callLoop.wake()
      })
      await settleWriter.idle()
    },
    async end() {
      draining = true
      ended.abort()
      await Promise.all([callLoop.stop(), readLoop.stop()])
    },
  }
}
