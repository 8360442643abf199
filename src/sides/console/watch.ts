// What the overview remembers while nobody looks: the counts of the metrics each minute, and the latest alerts. Both are of this process.

import type { Side } from '../../base/http/http.ts'
import { clock } from '../../base/runtime/clock.ts'
import { metrics } from '../../base/runtime/metrics.ts'
import { type EventTrouble, watchTroubleEvents } from '../../subjects/alerts/trouble-events.ts'

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
  alerts(): readonly EventTrouble[]
  /** Settled attempts in each minute of the last hour, or in each ten minutes of the last day. */
  curve(span: Span): Curve
  stop(): void
}

const intervals = { hour: 60, day: 144 } as const
type Sample = Readonly<Record<Outcome, number>> & { readonly at: number }

/** The counters of outcomes: the platform counts the items of its lanes and their retries, the operator the attempts of its send path. */
const countersOf: Record<Side, readonly string[]> = {
  platform: ['bellwire_items_total', 'bellwire_retries_total'],
  operator: ['bellwire_attempts_total'],
}

export function createWatch(side: Side): Watch {
  const troubles = watchTroubleEvents()
  const samples: Record<Span, Sample[]> = { hour: [], day: [] }
  let minute = 0
  const timer = clock.setInterval(() => void sample(), spans.hour).unref()
  void sample()

  return {
    alerts: () => troubles.current().toReversed(),
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
      troubles.stop()
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
