// The controls of a lane as its owner applies them. They are read at the start of a lane session, when a control changes, and now and
// then, in case a notification was lost. An idle lane without controls reads nothing. The owner also ends controls that expire.

import { clock } from '../../runtime/clock.ts'
import { emit } from '../../runtime/events.ts'
import { createLoop } from '../../runtime/loop.ts'
import type { Database } from '../../store/database.ts'
import type { Lane, LaneSettings } from '../queue.ts'
import { readOpenCancellations } from './cancellations.ts'
import {
  type Control,
  expireControls,
  isExpired,
  isProbe,
  itself,
  type NewControl,
  readControls,
  scopesOf,
  setControls,
} from './controls.ts'
import { configuredSettings, effectiveSettings } from './lane-settings.ts'
import { findItemPause, pausesItems } from './paused-items.ts'
import type { Cancellation } from './waiting-selection.ts'

export interface LaneControls {
  /** The settings in effect. */
  readonly settings: LaneSettings
  /** Whether the controls were read. No item is read and no call starts before that. */
  readonly known: boolean
  /** The pause of the lane or of its brand. */
  readonly pause: Pick<Control, 'by' | 'reason'> | undefined
  /** Finds the pause of an item's activity or action. Undefined: there is none in this lane. */
  readonly findItemPause: ((key: string) => Control | undefined) | undefined
  /** The cancellations that are not done, the oldest first. */
  readonly cancellations: readonly Cancellation[]
  /** The pause that the provider asked an earlier owner of the lane for. */
  readonly hold: Control | undefined
  /** The pauses of activities and actions. */
  readonly itemPauses: readonly Control[]
  start(): void
  /** Reads the controls again, if they were not read lately: a notification may have been lost. */
  readIfOld(): void
  /** Reads the controls again. */
  wake(): void
  /** Resolves when the controls were read again, or could not be read. */
  refresh(): Promise<void>
  /** Pauses the lane at once, and stores the pause. */
  pauseLane(reason: string): void
  /** Stores a pause that the provider asked for. */
  storeHold(forMs: number, reason: string): void
  stop(): Promise<void>
}

export interface LaneControlsOptions {
  readonly database: Database
  readonly lane: Lane
  /** Called when the controls have changed. */
  readonly onChange: () => void
  /** Called when a person wants the lane to send a probe now. */
  readonly onProbe: () => void
  /** Called each time the controls were read. */
  readonly onRead: () => void
}

/** A lane with controls, or with items to send, reads its controls this often without a notification. */
const readEveryMs = 10_000

export function createLaneControls({
  database,
  lane: served,
  onChange,
  onProbe,
  onRead,
}: LaneControlsOptions): LaneControls {
  const lane = served.name
  let settings = configuredSettings(served)
  let cancellations: readonly Cancellation[] = []
  let findPauseOf: LaneControls['findItemPause']
  let controls: readonly Control[] | undefined
  /** The reason of a pause by the lane itself that is not stored yet. */
  let unstoredReason: string | undefined
  let unstoredHold: NewControl | undefined
  let paused = false
  let readAt = Number.NEGATIVE_INFINITY
  let refreshing: (() => void)[] = []
  let stopped = false

  const loop = createLoop(`controlling ${lane}`, async () => {
    const refreshed = refreshing
    refreshing = []
    try {
      return await readAgain()
    } finally {
      for (const resolve of refreshed) resolve()
    }
  })

  async function readAgain(): Promise<number> {
    const [reason, hold] = [unstoredReason, unstoredHold]
    if (reason !== undefined)
      await setControls(database, [{ scope: lane, kind: 'pause', name: '', by: itself, reason }])
    if (hold) await setControls(database, [hold])
    const [stored, open] = await Promise.all([
      readControls(database.read, scopesOf(lane)),
      readOpenCancellations(database, lane),
    ])
    const now = clock.now()
    const expired = stored.filter((control) => isExpired(control, now))
    if (expired.length > 0) await expireControls(database, expired)
    if (expired.some(isProbe)) onProbe()
    const before = describeState()
    cancellations = open
    controls = stored.filter((control) => !expired.includes(control))
    settings = effectiveSettings(served, controls)
    findPauseOf = findItemPause(controls)
    if (unstoredReason === reason) unstoredReason = undefined
    if (unstoredHold === hold) unstoredHold = undefined
    reportPause()
    if (describeState() !== before) onChange()
    onRead()
    const expiries = controls.map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt - now)
    readAt = clock.monotonic()
    const some = controls.length > 0 || cancellations.length > 0
    return Math.min(some ? readEveryMs : Number.POSITIVE_INFINITY, ...expiries)
  }

  const describeState = (): string => JSON.stringify([controls, cancellations.map(({ id }) => id)])

  function findPause(): Pick<Control, 'by' | 'reason'> | undefined {
    if (unstoredReason !== undefined) return { by: itself, reason: unstoredReason }
    return controls?.find(({ kind }) => kind === 'pause')
  }

  function reportPause(): void {
    const pause = findPause()
    if (pause && !paused) emit('lane.paused', { lane, by: pause.by, reason: pause.reason })
    if (!pause && paused) emit('lane.resumed', { lane })
    paused = pause !== undefined
  }

  return {
    get settings() {
      return settings
    },
    get findItemPause() {
      return findPauseOf
    },
    get cancellations() {
      return cancellations
    },
    get hold() {
      return controls?.find(({ kind }) => kind === 'hold')
    },
    get itemPauses() {
      return controls?.filter(pausesItems) ?? []
    },
    get known() {
      return controls !== undefined
    },
    get pause() {
      return findPause()
    },
    start: () => loop.start(),
    wake: () => loop.wake(),
    readIfOld() {
      if (clock.monotonic() - readAt >= readEveryMs) loop.wake()
    },
    refresh: () =>
      new Promise((resolve) => {
        if (stopped) return resolve()
        refreshing.push(resolve)
        loop.wake()
      }),
    pauseLane(reason) {
      if (findPause()) return
      unstoredReason = reason
      reportPause()
      emit('provider.alert', {
        provider: lane,
        error: `the lane is paused: ${reason}`,
        remedy: `correct the key or the address, then: bellwire resume ${lane}`,
      })
      loop.wake()
    },
    storeHold(forMs, reason) {
      unstoredHold = { scope: lane, kind: 'hold', name: '', by: itself, reason, expiresAt: clock.now() + forMs }
      loop.wake()
    },
    async stop() {
      stopped = true
      await loop.stop()
      for (const resolve of refreshing.splice(0)) resolve()
    },
  }
}
