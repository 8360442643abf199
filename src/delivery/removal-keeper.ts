// Keeps the removal brake: counts here, shares the counts with other processes, and keeps what was stopped over restarts.

import { randomUUID } from 'node:crypto'
import { emit } from '../runtime/events.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Database, Value } from '../store/database.ts'
import { op } from '../store/statement.ts'
import type { Brake } from './devices.ts'
import {
  createWindow,
  minuteMs,
  type RemovalLimits,
  removalLimits,
  sum,
  type Tally,
  tooMany,
  type Window,
} from './removal-brake.ts'
import {
  type BrakeRow,
  confirmRemovals,
  forgetTallies,
  listBrakes,
  othersTallies,
  putTallies,
  stopRemovals,
  type TallyRow,
} from './removal-tables.ts'

export interface RemovalState {
  readonly service: string
  readonly stopped: boolean
  /** What it was stopped for; absent: it was never stopped. */
  readonly stoppedFor?: Tally
  /** Epoch milliseconds. */
  readonly stoppedAt?: number
  /** A person confirmed: until then dead devices are removed without counting. */
  readonly allowedUntil?: number
  readonly confirmedBy?: string
  /** Of the last ten minutes, of all processes as far as this one knows. */
  readonly lately: Tally
}

export interface RemovalKeeper extends Brake {
  /** Reads what was stopped; before that, nothing is removed. */
  start(): Promise<void>
  stop(): Promise<void>
  state(): readonly RemovalState[]
  /** Dead devices are removed again, for so long without counting. @returns false: they were not stopped */
  confirm(service: string, by: string, forMs: number): Promise<boolean>
}

export interface RemovalKeeperOptions {
  readonly database: Database
  readonly limits?: Partial<RemovalLimits>
  readonly now?: () => number
}

const topic = 'removals'
/** How often counts are shared. Between two times each process knows of the others only what was. */
const everyMs = 5_000

interface Kept {
  readonly window: Window
  others: readonly TallyRow[]
  row: BrakeRow | undefined
  /** Stopped here, and not yet written down. */
  stopping: Tally | undefined
  /** Something was counted that the others do not know. */
  news: boolean
}

/** @example const brake = createRemovalKeeper({ database }); await brake.start(); createDevices({ …, brake }) */
export function createRemovalKeeper({
  database,
  limits: given = {},
  now = Date.now,
}: RemovalKeeperOptions): RemovalKeeper {
  const limits = { ...removalLimits, ...given }
  const process = randomUUID()
  const kept = new Map<string, Kept>()
  let known = false
  const of = (service: string): Kept => {
    let found = kept.get(service)
    if (!found) {
      found = { window: createWindow(), others: [], row: undefined, stopping: undefined, news: false }
      kept.set(service, found)
    }
    return found
  }

  const stopped = ({ row, stopping }: Kept): boolean => stopping !== undefined || (row?.stopped_at ?? 0) > 0
  // Counted by the minute: rather a minute more than one less.
  const since = ({ row }: Kept): number => Math.max(now() - limits.windowMs - minuteMs + 1, row?.allowed_until ?? 0)
  function lately(one: Kept): Tally {
    const from = since(one)
    return sum([one.window.tally(from), ...one.others.filter(({ minute }) => minute >= from)])
  }

  function mayRemove(service: string, device: string, user: string): boolean {
    const one = of(service)
    if (!known || stopped(one)) return false
    if ((one.row?.allowed_until ?? 0) > now() || !one.window.counts(device, user)) return true
    const { sends, removals } = lately(one)
    const then = { sends, removals: removals + 1 }
    if (tooMany(then, limits)) {
      stopNow(service, one, then)
      return false
    }
    one.window.removed(device, user, now())
    one.news = true
    return true
  }

  function stopNow(service: string, one: Kept, tally: Tally): void {
    one.stopping = tally
    emit('removals.stopped', { service, ...tally })
    const share = Math.round((100 * tally.removals) / tally.sends)
    emit('provider.alert', {
      provider: service,
      error: `${tally.removals} devices, ${share} % of its sends, would have been removed within ${limits.windowMs / minuteMs} minutes: removing is stopped`,
      remedy: `look whether the credential is the right one (bellwire doctor), then confirm: bellwire removals confirm ${service}`,
    })
    loop.wake()
  }

  async function write(): Promise<void> {
    await writeStops()
    await writeTallies()
  }

  async function writeStops(): Promise<void> {
    const stops = [...kept].filter(([, { stopping }]) => stopping)
    if (stops.length === 0) return
    const rows = stops.map(([service, { stopping }]) => [service, now(), stopping?.removals ?? 0, stopping?.sends ?? 0])
    await database.commit([op(stopRemovals, rows), database.wake(topic)])
    // What was written is read before anybody may think that it is not stopped.
    await readBrakes()
    for (const [, one] of stops) one.stopping = undefined
  }

  async function writeTallies(): Promise<void> {
    const before = now() - limits.windowMs - minuteMs
    const news = [...kept].filter(([, one]) => one.news)
    if (news.length === 0) return
    const rows: Value[][] = []
    for (const [service, one] of news) {
      one.news = false
      one.window.forget(before)
      for (const [minute, { sends, removals }] of one.window.minutes)
        rows.push([service, process, minute, sends, removals])
    }
    try {
      await database.commit([op(putTallies, rows), op(forgetTallies, [[before]])], { durable: false })
    } catch (error) {
      for (const [, one] of news) one.news = true
      throw error
    }
  }

  async function readBrakes(): Promise<void> {
    const rows = await database.read(op(listBrakes, [[]]))
    for (const row of rows) {
      const one = of(row.service)
      const before = stopped(one)
      one.row = row
      if (row.stopped_at > 0 && !before)
        emit('removals.stopped', { service: row.service, removals: row.removals, sends: row.sends })
      if (row.stopped_at === 0 && before && one.stopping === undefined)
        emit('removals.confirmed', { service: row.service, by: row.confirmed_by })
    }
  }

  async function readOthers(): Promise<void> {
    const rows = await database.read(op(othersTallies, [[process, now() - limits.windowMs - minuteMs]]))
    const byService = Map.groupBy(rows, ({ service }) => service)
    for (const service of byService.keys()) of(service)
    for (const [service, one] of kept) one.others = byService.get(service) ?? []
  }

  const loop = createLoop({
    name: 'removals',
    async turn() {
      await write()
      await readBrakes()
      await readOthers()
      return everyMs
    },
  })
  let unsubscribe: (() => void) | undefined

  return {
    sent(service) {
      const one = of(service)
      one.window.sent(now())
      one.news = true
    },
    mayRemove,
    async start() {
      await readBrakes()
      await readOthers()
      known = true
      unsubscribe = database.onWake(topic, () => loop.wake())
      loop.start()
    },
    async stop() {
      unsubscribe?.()
      await loop.stop()
      await write().catch(() => {})
    },
    state: () =>
      [...kept].map(([service, one]) => {
        const { row, stopping } = one
        const stoppedFor = stopping ?? (row && { sends: row.sends, removals: row.removals })
        return {
          service,
          stopped: stopped(one),
          ...(stoppedFor && { stoppedFor }),
          ...(row && row.stopped_at > 0 && { stoppedAt: row.stopped_at }),
          ...(row && row.allowed_until > 0 && { allowedUntil: row.allowed_until, confirmedBy: row.confirmed_by }),
          lately: lately(one),
        }
      }),
    async confirm(service, by, forMs) {
      await writeStops()
      const at = now()
      const [rows] = await database.commit([op(confirmRemovals, [[service, at, at + forMs, by]]), database.wake(topic)])
      await readBrakes()
      return rows.length > 0
    },
  }
}
