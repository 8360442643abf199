// The state of the removal brake. Counts in this process, shares the counts with other processes, and stores each stop.

import { clock } from '../../../base/runtime/clock.ts'
import { emit } from '../../../base/runtime/events.ts'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { withDefaults } from '../../../base/runtime/present.ts'
import { random } from '../../../base/runtime/random.ts'
import type { Database, Op, Value } from '../../../base/store/database.ts'
import { op } from '../../../base/store/statement.ts'
import { StoreUnavailable } from '../../../base/store/store-unavailable.ts'
import { createWokenLoop } from '../../../base/store/woken-loop.ts'
import type { Device } from '../device.ts'
import { idOf } from '../identity.ts'
import {
  createWindow,
  exceedsLimits,
  minuteMs,
  type RemovalLimits,
  removalLimits,
  sum,
  type Tally,
  type Window,
} from './brake.ts'
import {
  type BrakeRow,
  confirmRemovals,
  forgetTallies,
  listBrakes,
  listOtherTallies,
  stopRemovals,
  type TallyRow,
  upsertTallies,
} from './tables.ts'

export interface RemovalState {
  readonly service: string
  readonly stopped: boolean
  /** The counts that stopped it. Absent: it was never stopped. */
  readonly stoppedFor?: Tally
  /** Epoch milliseconds. */
  readonly stoppedAt?: number
  /** A person has confirmed: until this time, dead devices are removed without counting. */
  readonly allowedUntil?: number
  readonly confirmedBy?: string
  /** The counts of the last ten minutes, of all processes as far as this one has read them. */
  readonly recent: Tally
}

/** Limits the removal of dead devices; brake.ts has the rule. */
export interface Brake {
  /** Counts a call of a push service, whatever the answer was. */
  recordSend(service: string): void
  /** Whether this device, which its push service proved dead, may be removed. */
  mayRemove(service: string, device: Device): boolean
}

export interface RemovalKeeper extends Brake {
  /** Reads the stored stops. No device is removed before that. If the store is away, the stops are read later. */
  start(): Promise<void>
  stop(): Promise<void>
  state(): readonly RemovalState[]
  /**
   * Allows removals again, for `forMs` without counting.
   *
   * @param also operations for the same commit
   * @returns false if removals were not stopped
   */
  confirm(service: string, by: string, forMs: number, also?: () => readonly Op[]): Promise<boolean>
}

export interface RemovalKeeperOptions {
  readonly database: Database
  readonly limits?: Partial<RemovalLimits>
  readonly now?: () => number
}

const topic = 'removals'
/** How often the processes share their counts. */
const shareEveryMs = 5_000

/** The brake of one push service. */
interface ServiceBrake {
  readonly window: Window
  otherTallies: readonly TallyRow[]
  row: BrakeRow | undefined
  /** A stop by this process that is not stored yet. */
  unsavedStop: Tally | undefined
  /** Something was counted since the counts were last stored. */
  changed: boolean
}

/** @example const brake = createRemovalKeeper({ database }); await brake.start(); createDevices({ …, brake }) */
export function createRemovalKeeper({
  database,
  limits: givenLimits = {},
  now = clock.now,
}: RemovalKeeperOptions): RemovalKeeper {
  const limits = withDefaults(removalLimits, givenLimits)
  const process = random.uuid()
  const brakes = new Map<string, ServiceBrake>()
  let started = false
  const brakeOf = (service: string): ServiceBrake => {
    let found = brakes.get(service)
    if (!found) {
      found = { window: createWindow(), otherTallies: [], row: undefined, unsavedStop: undefined, changed: false }
      brakes.set(service, found)
    }
    return found
  }

  const isStopped = ({ row, unsavedStop }: ServiceBrake): boolean =>
    unsavedStop !== undefined || (row?.stopped_at ?? 0) > 0
  function countRecent({ window, otherTallies, row }: ServiceBrake): Tally {
    // Counts are per minute: the window has up to a minute more than windowMs, never less.
    const since = Math.max(now() - limits.windowMs - minuteMs + 1, row?.allowed_until ?? 0)
    return sum([window.sumSince(since), ...otherTallies.filter(({ minute }) => minute >= since)])
  }

  function mayRemove(service: string, device: Device): boolean {
    const brake = brakeOf(service)
    if (!started || isStopped(brake)) return false
    const [id, user] = [idOf(device), `${device.brand} ${device.userId}`]
    // Users who link made-up tokens must not stop the removals of all.
    if (device.unproven) return true
    if ((brake.row?.allowed_until ?? 0) > now() || !brake.window.wouldCount(id, user)) return true
    const { sends, removals } = countRecent(brake)
    const tally = { sends, removals: removals + 1 }
    if (exceedsLimits(tally, limits)) {
      stopRemoving(service, brake, tally)
      return false
    }
    brake.window.recordRemoval(id, user, now())
    brake.changed = true
    return true
  }

  function stopRemoving(service: string, brake: ServiceBrake, tally: Tally): void {
    brake.unsavedStop = tally
    emit('removals.stopped', { service, ...tally })
    const share = Math.round((100 * tally.removals) / tally.sends)
    emit('provider.alert', {
      provider: service,
      error: `${phraseCount(tally.removals, 'device')}, ${share} % of its sends, were reported dead within ${limits.windowMs / minuteMs} minutes: removals are stopped`,
      remedy: `check that the credential is the right one (bellwire doctor), then confirm: bellwire removals confirm ${service}`,
      isStop: true,
    })
    loop.wake()
  }

  async function write(): Promise<void> {
    await writeStops()
    await writeTallies()
  }

  async function writeStops(): Promise<void> {
    const stops = [...brakes].filter(([, { unsavedStop }]) => unsavedStop)
    if (stops.length === 0) return
    const rows = stops.map(([service, { unsavedStop: stop }]) => [
      service,
      now(),
      stop?.removals ?? 0,
      stop?.sends ?? 0,
    ])
    await database.commit([op(stopRemovals, rows), database.wake(topic)])
    // The stored row must be in memory before unsavedStop is cleared: the service counts as stopped all the time.
    await readBrakes()
    for (const [, brake] of stops) brake.unsavedStop = undefined
  }

  async function writeTallies(): Promise<void> {
    const before = now() - limits.windowMs - minuteMs
    const changed = [...brakes].filter(([, brake]) => brake.changed)
    if (changed.length === 0) return
    const rows: Value[][] = []
    for (const [service, brake] of changed) {
      brake.changed = false
      brake.window.dropBefore(before)
      for (const [minute, { sends, removals }] of brake.window.minutes)
        rows.push([service, process, minute, sends, removals])
    }
    try {
      await database.commit([op(upsertTallies, rows), op(forgetTallies, [[before]])], { durable: false })
    } catch (error) {
      for (const [, brake] of changed) brake.changed = true
      throw error
    }
  }

  async function readBrakes(): Promise<void> {
    const rows = await database.read(op(listBrakes, [[]]))
    for (const row of rows) {
      const brake = brakeOf(row.service)
      const wasStopped = isStopped(brake)
      brake.row = row
      if (row.stopped_at > 0 && !wasStopped)
        emit('removals.stopped', { service: row.service, removals: row.removals, sends: row.sends })
      if (row.stopped_at === 0 && wasStopped && brake.unsavedStop === undefined)
        emit('removals.confirmed', { service: row.service, by: row.confirmed_by })
    }
  }

  async function readOtherTallies(): Promise<void> {
    const rows = await database.read(op(listOtherTallies, [[process, now() - limits.windowMs - minuteMs]]))
    const byService = Map.groupBy(rows, ({ service }) => service)
    for (const service of byService.keys()) brakeOf(service)
    for (const [service, brake] of brakes) brake.otherTallies = byService.get(service) ?? []
  }

  async function read(): Promise<void> {
    await readBrakes()
    await readOtherTallies()
    started = true
  }

  const loop = createWokenLoop('removals', [database], topic, async () => {
    await write()
    await read()
    return shareEveryMs
  })

  return {
    recordSend(service) {
      const brake = brakeOf(service)
      brake.window.recordSend(now())
      brake.changed = true
    },
    mayRemove,
    async start() {
      // A side with several stores starts while one of them is away.
      await read().catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error
      })
      loop.start()
    },
    async stop() {
      await loop.stop()
      await write().catch(() => {})
    },
    state: () =>
      [...brakes].map(([service, brake]) => {
        const { row, unsavedStop } = brake
        const stoppedFor = unsavedStop ?? (row && { sends: row.sends, removals: row.removals })
        return {
          service,
          stopped: isStopped(brake),
          ...(stoppedFor && { stoppedFor }),
          ...(row && row.stopped_at > 0 && { stoppedAt: row.stopped_at }),
          ...(row && row.allowed_until > 0 && { allowedUntil: row.allowed_until, confirmedBy: row.confirmed_by }),
          recent: countRecent(brake),
        }
      }),
    async confirm(service, by, forMs, also = () => []) {
      await writeStops()
      await readBrakes()
      if (!isStopped(brakeOf(service))) return false
      const at = now()
      const confirmed = op(confirmRemovals, [[service, at, at + forMs, by]])
      const [rows] = await database.commit([confirmed, database.wake(topic), ...also()])
      await readBrakes()
      return rows.length > 0
    },
  }
}
