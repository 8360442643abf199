// What the overview remembers while nobody looks: the counts of the metrics each minute, and the latest alerts. Both are of this process.

import type { Side } from '../../base/http/http.ts'
import { clock } from '../../base/runtime/clock.ts'
import { type EventName, type Events, on } from '../../base/runtime/events.ts'
import { metrics } from '../../base/runtime/metrics.ts'

export interface Alert {
  readonly since: number
  readonly about: string
  readonly says: string
  readonly remedy: string
  /** How often it was reported. */
  readonly count: number
}

export interface Curve {
  /** The ends of the intervals, in epoch seconds. */
  readonly at: readonly number[]
  readonly counts: Readonly<Record<Outcome, readonly number[]>>
}

export const outcomes = ['successful', 'failed', 'fatal'] as const
type Outcome = (typeof outcomes)[number]
export const spans = { hour: 60_000, day: 10 * 60_000 } as const
export type Span = keyof typeof spans

export interface Watch {
  /** The newest first. */
  alerts(): readonly Alert[]
  /** Settled attempts in each minute of the last hour, or in each ten minutes of the last day. */
  curve(span: Span): Curve
  stop(): void
}

const mostAlerts = 50
const intervals = { hour: 60, day: 144 } as const
type Sample = Readonly<Record<Outcome, number>> & { readonly at: number }

/** The counters of outcomes: the platform counts the items of its lanes and their retries, the operator the attempts of its send path. */
const countersOf: Record<Side, readonly string[]> = {
  platform: ['bellwire_items_total', 'bellwire_retries_total'],
  operator: ['bellwire_attempts_total'],
}

export function createWatch(side: Side): Watch {
  const alerts = new Map<string, Alert>()
  const samples: Record<Span, Sample[]> = { hour: [], day: [] }
  const ends = [
    alert('provider.alert', ({ provider, error, remedy }) => ({ about: provider, says: error, remedy })),
    alert('store.lost', ({ store, error }) => ({
      about: `store ${store}`,
      says: `nothing can be stored: ${error}`,
      remedy: 'Nothing is sent or lost meanwhile. Check the database and its disk.',
    })),
    clear('store.back', ({ store }) => `store ${store}`),
    alert('removals.stopped', ({ service, removals, sends }) => ({
      about: service,
      says: `the removal of dead devices has stopped: ${removals} of ${sends} devices were reported dead`,
      remedy:
        'Check the credential of the push service. If the devices are really dead, run: bellwire removals confirm',
    })),
    clear('removals.confirmed', ({ service }) => service),
    alert('suppression.held', ({ source, why, remedy }) => ({ about: source, says: why, remedy })),
    alert('consumer.lost', ({ consumer, error }) => ({
      about: consumer,
      says: error,
      remedy: 'It is connected again by itself. Check the broker and its address.',
    })),
    clear('consumer.back', ({ consumer }) => consumer),
    alert('provider.paused', ({ provider, counterpart, reason }) => ({
      about: [provider, counterpart].filter(Boolean).join(' for '),
      says: `paused: ${reason}`,
      remedy: 'It is tried again by itself.',
    })),
    clear('provider.resumed', ({ provider, counterpart }) => [provider, counterpart].filter(Boolean).join(' for ')),
  ]
  let minute = 0
  const timer = clock.setInterval(() => void sample(), spans.hour).unref()
  void sample()

  return {
    alerts: () => [...alerts.values()].reverse(),
    curve(span) {
      const taken = samples[span]
      const differences = (outcome: Outcome): number[] =>
        taken.slice(1).map((each, i) => each[outcome] - (taken[i] as Sample)[outcome])
      return {
        at: taken.slice(1).map(({ at }) => Math.round(at / 1_000)),
        counts: {
          successful: differences('successful'),
          failed: differences('failed'),
          fatal: differences('fatal'),
        },
      }
    },
    stop() {
      clock.clearInterval(timer)
      for (const end of ends) end()
    },
  }

  async function sample(): Promise<void> {
    const taken = await readCounts(side)
    keep('hour', taken)
    if (minute++ % 10 === 0) keep('day', taken)
  }

  function keep(span: Span, taken: Sample): void {
    samples[span].push(taken)
    if (samples[span].length > intervals[span] + 1) samples[span].shift()
  }

  function alert<Name extends EventName>(
    name: Name,
    tell: (event: Events[Name]) => Pick<Alert, 'about' | 'says' | 'remedy'>,
  ): () => void {
    return on(name, (event) => {
      const told = tell(event)
      const { since = clock.now(), count = 0 } = alerts.get(told.about) ?? {}
      alerts.delete(told.about)
      alerts.set(told.about, { ...told, since, count: count + 1 })
      if (alerts.size > mostAlerts) alerts.delete(alerts.keys().next().value as string)
    })
  }

  function clear<Name extends EventName>(name: Name, aboutOf: (event: Events[Name]) => string): () => void {
    return on(name, (event) => void alerts.delete(aboutOf(event)))
  }
}

async function readCounts(side: Side): Promise<Sample> {
  const counts = { successful: 0, failed: 0, fatal: 0 }
  for (const name of countersOf[side]) {
    const counter = await metrics().registry.getSingleMetric(name)?.get()
    // A retry has no category: it follows a fatal outcome.
    for (const { labels, value } of counter?.values ?? [])
      counts[(labels.category as Outcome | undefined) ?? 'fatal'] += value
  }
  return { at: clock.now(), ...counts }
}
