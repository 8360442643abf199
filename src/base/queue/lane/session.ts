// One period in which this process owns a lane. All of its state is in memory and ends with it.

import { clock } from '../../runtime/clock.ts'
import { createLoop } from '../../runtime/loop.ts'
import type { Database } from '../../store/database.ts'
import { createCancelSweep } from '../controls/cancel-sweep.ts'
import { cancelledResult, findCancellation } from '../controls/cancellations.ts'
import { createLaneControls, type LaneControls } from '../controls/lane-controls.ts'
import { createPausedItems, pausedDueAt } from '../controls/paused-items.ts'
import type { Lane, LaneHandler } from '../queue.ts'
import { createAttemptBuffer } from './attempt-buffer.ts'
import { createLaneBuffer } from './buffer.ts'
import type { BufferedItem } from './buffered-item.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'
import { limitDueTimes } from './limit-due-times.ts'
import type { ReadAheadBudget } from './read-ahead-budget.ts'
import { createLaneReader, type NewItemSource } from './reader.ts'
import type { PostponedItem } from './settle-ops.ts'
import { type CallResult, createSettleWriter } from './settle-writer.ts'

export interface LaneSession {
  readonly dispatcher: Dispatcher
  readonly controls: Pick<LaneControls, 'pause' | 'findItemPause' | 'wake' | 'refresh'>
  wakeReader(source: NewItemSource): void
  /** Reads items whose wake-up was lost, and the controls if they were not read lately. */
  sweep(): void
  /** Starts no new calls. Resolves when the running calls are answered and settled. */
  drain(): Promise<void>
  /** Stops at once and drops all unsettled results. */
  end(): Promise<void>
}

export interface LaneSessionOptions {
  readonly database: Database
  readonly readAhead: ReadAheadBudget
  readonly lane: Lane
  readonly handle: LaneHandler
  readonly signal: AbortSignal
  readonly lost: AbortSignal
}

export function createLaneSession(options: LaneSessionOptions): LaneSession {
  const { database, readAhead, lane, handle, signal, lost } = options
  const buffer = createLaneBuffer(readAhead)
  const attempts = createAttemptBuffer()
  /** Items that are being moved to the place of their pause. */
  const movingItems = new Set<BufferedItem>()
  let draining = false
  let dueTimesLimited = false
  let holdContinued = false
  const drainListeners: (() => void)[] = []

  // After the end, the next owner sends the unsettled items: the settle writer must not retry.
  const ended = new AbortController()
  const settleWriter = createSettleWriter({
    database,
    lane,
    lost: AbortSignal.any([lost, ended.signal]),
    onWritten: wakeCalls,
    onCommitted(items) {
      buffer.remove(items)
      wakeCalls()
      // A pause may have ended while its items were moved.
      const moved = items.filter((item) => movingItems.delete(item)).length
      if (moved > 0) pausedItems.checkEnded()
      if (moved > 0 || cancelSweep.active) readLoop.wake()
    },
  })
  const controls = createLaneControls({
    database,
    lane,
    onChange() {
      const { findItemPause, cancellations } = controls
      const some = findItemPause !== undefined || cancellations.length > 0
      const matches = (item: BufferedItem): boolean =>
        findCancellation(cancellations, item) !== undefined || findItemPause?.(item.key) !== undefined
      buffer.setAside(some ? matches : undefined)
      if (some) dispatcher.requeueSplitParts()
      callLoop.wake()
    },
    onProbe() {
      dispatcher.probeNow()
      callLoop.wake()
    },
    onRead() {
      pausedItems.checkEnded()
      readLoop.wake()
    },
  })
  const dispatcher = createDispatcher({
    lane,
    handle,
    buffer,
    attempts,
    settleWriter,
    settings: () => controls.settings,
    signal,
    lost,
    wake: wakeCalls,
    pause: controls.pauseLane,
    storeHold: controls.storeHold,
  })
  const reader = createLaneReader(
    database,
    lane.name,
    buffer,
    () => controls.settings.max * controls.settings.concurrency,
  )

  const cancelSweep = createCancelSweep({
    database,
    lane: lane.name,
    buffer,
    reader,
    cancellations: () => controls.cancellations,
    onDone: controls.wake,
  })
  const pausedItems = createPausedItems({ database, lane: lane.name, pauses: () => controls.itemPauses })

  const callLoop = createLoop(`calling ${lane.name}`, () => {
    if (lost.aborted) return Number.POSITIVE_INFINITY
    settleAside()
    if (controls.known) continueHold()
    const mayCall = controls.known && !controls.pause && !draining && database.outage === undefined
    const waitMs = mayCall ? dispatcher.startCalls(clock.steady()) : dispatcher.endOverdueCalls(clock.steady())
    if (reader.hasWork) readLoop.wake()
    if (dispatcher.calls === 0 && settleWriter.size === 0) for (const notify of drainListeners.splice(0)) notify()
    return waitMs
  })
  const readLoop = createLoop(`reading ${lane.name}`, async () => {
    if (lost.aborted || draining || !controls.known) return Number.POSITIVE_INFINITY
    if (!dueTimesLimited) await limitDueTimes(database, lane, clock.steady())
    dueTimesLimited = true
    const examined = await cancelSweep.step()
    // An item that moves back during a cancellation could escape it.
    const released = !cancelSweep.active && (await pausedItems.releaseStep())
    if (released) reader.expectItems('released')
    const waitMs = await reader.readItems(clock.steady())
    callLoop.wake()
    return examined || released ? 0 : waitMs
  })

  /** A pause that the provider asked an earlier owner of the lane for goes on. */
  function continueHold(): void {
    if (holdContinued) return
    holdContinued = true
    const { hold } = controls
    if (hold) dispatcher.continuePause((hold.expiresAt ?? 0) - clock.now(), hold.reason)
  }

  function wakeCalls(): void {
    callLoop.wake()
  }

  /** Moves the items that were set aside out of the way of the other items. */
  function settleAside(): void {
    const aside = buffer.takeAside()
    if (aside.length === 0) return
    const { cancellations, findItemPause } = controls
    for (const [cancellation, items] of Map.groupBy(aside, (item) => findCancellation(cancellations, item))) {
      if (cancellation) settle(cancelledResult(cancellation, items))
      else postponePaused(items, findItemPause)
    }
  }

  function postponePaused(items: readonly BufferedItem[], findItemPause: LaneControls['findItemPause']): void {
    const postponed: PostponedItem[] = []
    for (const item of items) {
      const pause = findItemPause?.(item.key)
      if (pause) postponed.push({ item, at: pausedDueAt(pause) })
      // The control has ended meanwhile. An item without its text must be read again.
      else if (item.text === '') buffer.remove([item])
      else buffer.requeue([item], 'end')
    }
    for (const { item } of postponed) movingItems.add(item)
    settle({ final: [], postponed, writes: [] })
  }

  function settle(result: CallResult): void {
    attempts.release([...result.final, ...result.postponed])
    settleWriter.add(result)
  }

  controls.start()
  readLoop.start()
  callLoop.start()
  return {
    dispatcher,
    controls,
    wakeReader(source) {
      reader.expectItems(source)
      readLoop.wake()
    },
    sweep() {
      reader.sweep()
      readLoop.wake()
      controls.readIfOld()
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
      await Promise.all([callLoop.stop(), readLoop.stop(), controls.stop()])
      buffer.free()
    },
  }
}
