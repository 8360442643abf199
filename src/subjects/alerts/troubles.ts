// The troubles of this process. Events begin and end some; others are read: lanes, Failed Actions, disk, discrepancies.

import type { LaneState } from '../../base/queue/queue.ts'
import { clock } from '../../base/runtime/clock.ts'
import { on } from '../../base/runtime/events.ts'
import { phraseDuration } from '../../base/runtime/phrase-duration.ts'
import type { Told, Trouble } from './trouble.ts'
import { alertName, watchTroubleEvents } from './trouble-events.ts'

export interface TroubleLimits {
  /** The age of the oldest waiting message. */
  readonly oldestMs: number
  /** Failed Actions in the last hour. */
  readonly failedPerHour: number
  readonly diskFreeBytes: number
}

export interface TroubleSources {
  readonly lanes: () => readonly { state(): Promise<LaneState> }[]
  /** Undefined: the store is not a file. */
  readonly diskFree: () => Promise<number | undefined>
  /** Of the last comparison of each list, as long as nobody has acknowledged it. */
  readonly findings?: () => Promise<readonly Findings[]>
}

type Findings = Readonly<Record<'brand' | 'field' | 'run', string>> & { readonly critical: number }

export interface Troubles {
  /** The oldest first. */
  current(): Promise<readonly Trouble[]>
  stop(): void
}

const hourMs = 3_600_000

export function createTroubles(sources: TroubleSources, limits: TroubleLimits): Troubles {
  const events = watchTroubleEvents()
  const firstSeen = new Map<string, number>()
  const failed = createHourCount()
  const stopCounting = on('item.settled', ({ category }) => {
    if (category === 'failed') failed.add()
  })

  /**
   * The troubles that are read, with the time when they were first seen.
   *
   * @param alerts the causes of the alerts, by their names
   */
  async function read(alerts: ReadonlyMap<string, string>): Promise<readonly Trouble[]> {
    const states = await Promise.allSettled(sources.lanes().map((lane) => lane.state()))
    const found = [
      ...states.flatMap((state) => (state.status === 'fulfilled' ? laneTroubles(state.value, limits, alerts) : [])),
      failedTrouble(failed.inLastHour(), limits),
      diskTrouble(await sources.diskFree().catch(() => undefined), limits),
      ...((await sources.findings?.().catch(() => [])) ?? []).map(findingsTrouble),
    ].filter((trouble) => trouble !== undefined)
    const names = new Set(found.map(({ name }) => name))
    for (const name of firstSeen.keys()) if (!names.has(name)) firstSeen.delete(name)
    return found.map(({ name, since = firstSeen.get(name) ?? clock.now(), urgent = false, ...told }) => {
      firstSeen.set(name, since)
      return { ...told, name, since, urgent }
    })
  }

  return {
    async current() {
      const ofEvents = events.current()
      const alerts = new Map(ofEvents.map(({ name, says }) => [name, says]))
      return [...ofEvents, ...(await read(alerts))].toSorted((a, b) => a.since - b.since)
    },
    stop() {
      events.stop()
      stopCounting()
    },
  }
}

type Read = Told & { readonly since?: number }

/** Another process reports the lanes that it owns. */
function laneTroubles(
  lane: LaneState,
  { oldestMs }: TroubleLimits,
  alerts: ReadonlyMap<string, string>,
): readonly Read[] {
  const { name, state, owned, heldForMs, heldReason, lastError, oldestAgeMs, controls } = lane
  if (!owned) return []
  const pause = controls.find(({ kind }) => kind === 'pause')
  // One cause is one trouble.
  const alert = alerts.get(alertName(name))
  const isHeldAlone = alert === undefined || alert !== heldReason
  // A lane that pauses itself adds words to the reason.
  const isPausedAlone = alert === undefined || pause === undefined || !alert.endsWith(`: ${pause.reason}`)
  const troubles: Read[] = []
  if (state === 'held' && isHeldAlone)
    troubles.push({
      name: `lane ${name} is held`,
      says: heldReason ?? lastError ?? 'its messages cannot be sent',
      remedy: `It is tried again by itself. See it: bellwire lanes; try it now: bellwire resume ${name} --now`,
      since: clock.now() - heldForMs,
    })
  if (state === 'paused' && isPausedAlone)
    troubles.push({
      name: `lane ${name} is paused`,
      says: pause ? `by ${pause.by}: ${pause.reason}` : 'by its operator',
      remedy: `Its messages wait. Resume it: bellwire resume ${name}`,
      ...(pause && { since: pause.at }),
    })
  if (oldestAgeMs > oldestMs)
    troubles.push({
      name: `messages wait in lane ${name}`,
      says: `the oldest one waits for ${phraseDuration(oldestAgeMs)}`,
      remedy: `See the cause: bellwire lanes`,
      urgent: true,
    })
  return troubles
}

const failedTrouble = (count: number, { failedPerHour }: TroubleLimits): Read | undefined =>
  count <= failedPerHour
    ? undefined
    : {
        name: 'many Failed Actions',
        says: `${count} in the last hour`,
        remedy: 'See their reasons: bellwire failed summary',
        urgent: true,
      }

const diskTrouble = (free: number | undefined, { diskFreeBytes }: TroubleLimits): Read | undefined =>
  free === undefined || free >= diskFreeBytes
    ? undefined
    : {
        name: 'the disk is nearly full',
        says: `${Math.round(free / 1024 ** 2)} MiB are free`,
        remedy: 'Free space, or enlarge the disk: nothing can be stored on a full one. See it: bellwire doctor',
        urgent: true,
      }

const findingsTrouble = ({ brand, field, run, critical }: Findings): Read | undefined =>
  critical === 0
    ? undefined
    : {
        name: `the lists of brand ${brand} differ in ${field}`,
        says: `${critical} critical discrepancies in run ${run}`,
        remedy: `Read them, then correct or acknowledge: bellwire reconcile export ${run}`,
        urgent: true,
      }

/** Counts events of the last hour, in steps of a minute. */
function createHourCount() {
  const minutes = new Map<number, number>()
  const minuteOf = (at: number): number => Math.floor(at / 60_000)
  return {
    add(): void {
      const minute = minuteOf(clock.monotonic())
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
    },
    inLastHour(): number {
      const oldest = minuteOf(clock.monotonic() - hourMs)
      for (const minute of minutes.keys()) if (minute <= oldest) minutes.delete(minute)
      return [...minutes.values()].reduce((sum, count) => sum + count, 0)
    },
  }
}
