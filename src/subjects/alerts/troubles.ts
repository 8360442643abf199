// The troubles of this process that a person should learn of: from events, which begin and end them, and from the state of the lanes.

import type { LaneState } from '../../base/queue/queue.ts'
import { clock } from '../../base/runtime/clock.ts'
import { type EventName, type Events, on } from '../../base/runtime/events.ts'
import { phraseDuration } from '../../base/runtime/phrase-duration.ts'

export interface Trouble {
  /** Identifies the trouble: 'lane 1/push is held'. */
  readonly name: string
  readonly says: string
  /** The remedy, with the command to type. */
  readonly remedy: string
  /** Epoch milliseconds. */
  readonly since: number
  /** A person has to act, so that waiting would help nothing. */
  readonly urgent: boolean
}

export interface TroubleLimits {
  /** The age of the oldest waiting message. */
  readonly oldestMs: number
  /** Failed Actions in the last hour. */
  readonly failedPerHour: number
  readonly diskFreeBytes: number
}

export interface TroubleSources {
  readonly lanes: readonly { state(): Promise<LaneState> }[]
  /** Undefined: the store is not a file. */
  readonly diskFree: () => Promise<number | undefined>
}

export interface Troubles {
  /** The oldest first. */
  current(): Promise<readonly Trouble[]>
  stop(): void
}

/** Somebody can cause troubles of many names, such as consumers and counterparts. */
const mostEvents = 100
const hourMs = 3_600_000
/** The check of a message whose source is away repeats the event. */
const quietMs = 2 * 60_000

type Told = Pick<Trouble, 'name' | 'says' | 'remedy'> & { readonly urgent?: boolean; readonly quietMs?: number }

export function createTroubles(sources: TroubleSources, limits: TroubleLimits): Troubles {
  const fromEvents = new Map<string, Trouble & { readonly endsAt: number }>()
  const firstSeen = new Map<string, number>()
  const failed = createHourCount()
  const ends = [
    begin('store.lost', ({ store, error }) => ({
      name: `store ${store} stores nothing`,
      says: error,
      remedy: 'Nothing is sent, and nothing is lost. Check the database and its disk: bellwire doctor',
      urgent: true,
    })),
    end('store.back', ({ store }) => `store ${store} stores nothing`),
    begin('provider.alert', ({ provider, error, remedy }) => ({
      name: `${provider} refuses us`,
      says: error,
      remedy: `Check ${remedy}: bellwire doctor`,
      urgent: true,
      // The event is repeated once an hour.
      quietMs: 1.5 * hourMs,
    })),
    end('provider.resumed', ({ provider }) => `${provider} refuses us`),
    begin('provider.paused', (event) => ({
      name: `${pausedName(event)} is paused`,
      says: event.reason,
      remedy: 'It is tried again by itself. Check its status page, and the credential: bellwire doctor',
    })),
    end('provider.resumed', (event) => `${pausedName(event)} is paused`),
    begin('removals.stopped', ({ service, removals, sends }) => ({
      name: `removals of ${service} have stopped`,
      says: `${removals} of ${sends} devices were reported as dead`,
      remedy: 'Check the credential. If the devices are dead: bellwire removals confirm',
      urgent: true,
    })),
    end('removals.confirmed', ({ service }) => `removals of ${service} have stopped`),
    begin('suppression.away', ({ source, error }) => ({
      name: `${source} cannot answer`,
      says: error,
      remedy: 'Nothing is sent until it answers, and nothing is lost. Check the source: bellwire doctor',
      quietMs,
    })),
    begin('suppression.held', ({ source, why, remedy }) => ({
      name: `${source} has an implausible list`,
      says: why,
      remedy,
      urgent: true,
      quietMs,
    })),
    begin('consumer.lost', ({ consumer, error }) => ({
      name: `${consumer} is not consumed`,
      says: error,
      remedy: 'It is connected again by itself. Check the broker and its address: bellwire doctor',
    })),
    end('consumer.back', ({ consumer }) => `${consumer} is not consumed`),
    begin('consumer.held', ({ consumer, error }) => ({
      name: `${consumer} cannot be stored`,
      says: error,
      remedy: 'The messages wait at the broker. Check the database: bellwire doctor',
    })),
    end('consumer.released', ({ consumer }) => `${consumer} cannot be stored`),
    on('run.ended', ({ brand, field, run, state, critical }) => {
      if (state !== 'done') return
      const name = `the lists of brand ${brand} differ in ${field}`
      const remedy = `Read them, then correct or acknowledge: bellwire reconcile export ${run}`
      if (critical === 0) fromEvents.delete(name)
      else note({ name, says: `${critical} critical discrepancies in run ${run}`, remedy, urgent: true })
    }),
    on('item.settled', ({ category }) => {
      if (category === 'failed') failed.add()
    }),
  ]

  function begin<Name extends EventName>(name: Name, tell: (event: Events[Name]) => Told): () => void {
    return on(name, (event) => note(tell(event)))
  }

  function end<Name extends EventName>(name: Name, nameOf: (event: Events[Name]) => string): () => void {
    return on(name, (event) => void fromEvents.delete(nameOf(event)))
  }

  function note({
    quietMs: quiet = Number.POSITIVE_INFINITY,
    urgent = false,
    ...told
  }: Told & { urgent?: boolean }): void {
    const now = clock.now()
    const since = fromEvents.get(told.name)?.since ?? now
    fromEvents.delete(told.name)
    fromEvents.set(told.name, { ...told, urgent, since, endsAt: now + quiet })
    if (fromEvents.size > mostEvents) fromEvents.delete(fromEvents.keys().next().value as string)
  }

  /** The troubles that are read, with the time when they were first seen. */
  async function read(): Promise<readonly Trouble[]> {
    const states = await Promise.allSettled(sources.lanes.map((lane) => lane.state()))
    const found = [
      ...states.flatMap((state) => (state.status === 'fulfilled' ? laneTroubles(state.value, limits) : [])),
      ...failedTrouble(failed.inLastHour(), limits),
      ...diskTrouble(await sources.diskFree().catch(() => undefined), limits),
    ]
    const names = new Set(found.map(({ name }) => name))
    for (const name of firstSeen.keys()) if (!names.has(name)) firstSeen.delete(name)
    return found.map(({ name, since = firstSeen.get(name) ?? clock.now(), urgent = false, ...told }) => {
      firstSeen.set(name, since)
      return { ...told, name, since, urgent }
    })
  }

  return {
    async current() {
      const now = clock.now()
      for (const [name, { endsAt }] of fromEvents) if (endsAt <= now) fromEvents.delete(name)
      const told = [...fromEvents.values()].map(({ endsAt, ...trouble }) => trouble)
      return [...told, ...(await read())].toSorted((a, b) => a.since - b.since)
    },
    stop() {
      for (const stop of ends) stop()
    },
  }
}

const pausedName = ({ provider, counterpart }: { readonly provider: string; readonly counterpart?: string }): string =>
  counterpart === undefined ? provider : `${provider} for ${counterpart}`

type Read = Told & { readonly since?: number }

/** Another process reports the lanes that it owns. */
function laneTroubles(lane: LaneState, { oldestMs }: TroubleLimits): readonly Read[] {
  const { name, state, owned, heldForMs, heldReason, lastError, oldestAgeMs, controls } = lane
  if (!owned) return []
  const pause = controls.find(({ kind }) => kind === 'pause')
  return [
    ...(state === 'held'
      ? [
          {
            name: `lane ${name} is held`,
            says: heldReason ?? lastError ?? 'its messages cannot be sent',
            remedy: `It is tried again by itself. See it: bellwire lanes; try it now: bellwire resume ${name} --now`,
            since: clock.now() - heldForMs,
          },
        ]
      : []),
    ...(state === 'paused'
      ? [
          {
            name: `lane ${name} is paused`,
            says: pause ? `by ${pause.by}: ${pause.reason}` : 'by its operator',
            remedy: `Its messages wait. Resume it: bellwire resume ${name}`,
            ...(pause && { since: pause.at }),
          },
        ]
      : []),
    ...(oldestAgeMs > oldestMs
      ? [
          {
            name: `messages wait in lane ${name}`,
            says: `the oldest one waits for ${phraseDuration(oldestAgeMs)}`,
            remedy: `See the cause: bellwire lanes`,
            urgent: true,
          },
        ]
      : []),
  ]
}

const failedTrouble = (count: number, { failedPerHour }: TroubleLimits): readonly Read[] =>
  count <= failedPerHour
    ? []
    : [
        {
          name: 'many Failed Actions',
          says: `${count} in the last hour`,
          remedy: 'See their reasons: bellwire failed summary',
          urgent: true,
        },
      ]

const diskTrouble = (free: number | undefined, { diskFreeBytes }: TroubleLimits): readonly Read[] =>
  free === undefined || free >= diskFreeBytes
    ? []
    : [
        {
          name: 'the disk is nearly full',
          says: `${Math.round(free / 1024 ** 2)} MiB are free`,
          remedy: 'Free space, or give the store a larger disk: nothing can be stored on a full one',
          urgent: true,
        },
      ]

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
