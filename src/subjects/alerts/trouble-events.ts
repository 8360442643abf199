// The troubles that events begin and end. Of this process, since its start.

import { clock } from '../../base/runtime/clock.ts'
import { type EventName, type Events, on } from '../../base/runtime/events.ts'
import { currentPauses, type Pause } from '../../base/runtime/pauses.ts'
import type { Told, Trouble } from './trouble.ts'

export interface EventTrouble extends Trouble {
  /** How often it was reported. */
  readonly count: number
}

export interface TroubleEvents {
  /** The newest report last. */
  current(): readonly EventTrouble[]
  stop(): void
}

/** Somebody can cause troubles of many names, such as consumers and counterparts. */
const mostTroubles = 50
/** The look-up for a message that waits repeats the event: after five minutes at the latest, the longest pause of a lane. */
const quietMs = 15 * 60_000
const hourMs = 3_600_000

type Reported = Told & { readonly quietMs?: number }

export function watchTroubleEvents(): TroubleEvents {
  const troubles = new Map<string, EventTrouble & { readonly endsAt: number }>()
  const ends = [
    begin('store.lost', ({ store, error }) => ({
      name: `store ${store} stores nothing`,
      says: error,
      remedy: 'Nothing is sent, and nothing is lost. Check the database and its disk: bellwire doctor',
      urgent: true,
    })),
    end('store.back', ({ store }) => `store ${store} stores nothing`),
    begin('provider.alert', ({ provider, error, remedy, isStop }) =>
      // It is the trouble of removals.stopped.
      isStop
        ? undefined
        : {
            name: alertName(provider),
            says: error,
            remedy,
            urgent: true,
            // The event is repeated once an hour.
            quietMs: 1.5 * hourMs,
          },
    ),
    end('provider.resumed', ({ provider }) => alertName(provider)),
    end('lane.released', ({ lane }) => alertName(lane)),
    end('lane.resumed', ({ lane }) => alertName(lane)),
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
    end('suppression.back', ({ source }) => `${source} cannot answer`),
    begin('suppression.held', ({ source, why, remedy }) => ({
      name: `${source} has an implausible list`,
      says: why,
      remedy,
      urgent: true,
    })),
    end('suppression.accepted', ({ source }) => `${source} has an implausible list`),
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
  ]

  function begin<Name extends EventName>(name: Name, tell: (event: Events[Name]) => Reported | undefined): () => void {
    return on(name, (event) => {
      const reported = tell(event)
      if (reported) note(reported)
    })
  }

  function end<Name extends EventName>(name: Name, nameOf: (event: Events[Name]) => string): () => void {
    return on(name, (event) => void troubles.delete(nameOf(event)))
  }

  function note({ quietMs: quiet = Number.POSITIVE_INFINITY, urgent = false, ...told }: Reported): void {
    const now = clock.now()
    const { since = now, count = 0 } = troubles.get(told.name) ?? {}
    troubles.delete(told.name)
    troubles.set(told.name, { ...told, urgent, since, count: count + 1, endsAt: now + quiet })
    if (troubles.size > mostTroubles) troubles.delete(troubles.keys().next().value as string)
  }

  return {
    current() {
      const now = clock.now()
      for (const [name, { endsAt }] of troubles) if (endsAt <= now) troubles.delete(name)
      const told = [...troubles.values()].map(({ endsAt, ...trouble }) => trouble)
      const alerts = new Map(told.map(({ name, says }) => [name, says]))
      const pauses = currentPauses().filter(({ provider, reason }) => alerts.get(alertName(provider)) !== reason)
      const paused = new Map(pauses.map((pause) => [pausedName(pause), pauseTrouble(pause)]))
      return [...told, ...paused.values()]
    },
    stop() {
      for (const stop of ends) stop()
    },
  }
}

/** @param of a provider, a push service or a lane. Its pause for the same cause is no further trouble */
export const alertName = (of: string): string => `${of} needs attention`

/** Read, because several guards may have a provider of the same name: see runtime/pauses.ts. */
const pauseTrouble = (pause: Pause): EventTrouble => ({
  name: pausedName(pause),
  says: pause.reason,
  remedy: 'It is tried again by itself. Check its status page, and the credential: bellwire doctor',
  since: pause.since,
  urgent: false,
  count: 1,
})

const pausedName = ({ provider, counterpart }: Pause): string =>
  `${counterpart === undefined ? provider : `${provider} for ${counterpart}`} is paused`
