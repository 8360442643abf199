// Metrics of states that last for a time: the scrape reads how long.

import type { Registry } from 'prom-client'
import { clock } from './clock.ts'
import { on } from './events.ts'
import { addGaugeOnScrape } from './gauge-on-scrape.ts'

/** A provider that needs attention, and a brand without texts, are reported again each hour. */
const hourlyMs = 1.5 * 3_600_000
/** A source that is away is asked again for each message that waits, after five minutes at the latest. */
const awayMs = 15 * 60_000

/** Adds the gauges. @returns functions that end them */
export function addTimedGauges(registry: Registry): (() => void)[] {
  const holds = new Map<string, { readonly since: number; readonly until: number }>()
  let sides = 0
  const ofHolds = (name: string, help: string, read: (hold: { since: number; until: number }, now: number) => number) =>
    addGaugeOnScrape(registry, name, help, ['lane'])(async () => {
      const now = clock.steady()
      return [...holds].map(([lane, hold]) => ({ labels: { lane }, value: Math.max(0, read(hold, now)) / 1_000 }))
    })
  ofHolds('lane_held_seconds', 'Seconds since a held lane is held', ({ since }, now) => now - since)
  ofHolds('lane_next_try_seconds', 'Seconds to the next try of a held lane', ({ until }, now) => until - now)
  const attention = addState(registry, 'attention', '1 while a provider or a lane needs a person', ['provider'])
  const away = addState(registry, 'attributes_away', '1 while a source of attributes cannot answer', ['source'])
  const held = addState(registry, 'list_held', '1 while a shrunk list of users waits for confirmation', ['source'])
  const noText = addState(
    registry,
    'content_unrecognised',
    '1 while no message of a brand had a title or a text; check operator.content',
    ['brand', 'channel'],
  )
  const endLane = ({ lane }: { readonly lane: string }): void => {
    holds.delete(lane)
    attention.end(lane)
  }
  return [
    on('lane.held', ({ lane, forMs }) => {
      const now = clock.steady()
      holds.set(lane, { since: holds.get(lane)?.since ?? now, until: now + forMs })
    }),
    on('lane.released', endLane),
    on('lane.lost', endLane),
    on('lane.returned', endLane),
    on('lane.resumed', ({ lane }) => attention.end(lane)),
    on('provider.alert', ({ provider }) => attention.begin(hourlyMs, provider)),
    on('provider.resumed', ({ provider }) => attention.end(provider)),
    on('removals.confirmed', ({ service }) => attention.end(service)),
    on('suppression.away', ({ source }) => away.begin(awayMs, source)),
    on('suppression.back', ({ source }) => away.end(source)),
    on('suppression.held', ({ source }) => held.begin(Number.POSITIVE_INFINITY, source)),
    on('suppression.accepted', ({ source }) => held.end(source)),
    on('content.unrecognised', ({ brand, channel }) => noText.begin(hourlyMs, brand, channel)),
    on('content.recognised', ({ brand, channel }) => noText.end(brand, channel)),
    on('server.started', () => void sides++),
    on('server.stopping', () => {
      // Of another side in this process they are still true.
      if (--sides <= 0) for (const state of [attention, away, held, noText]) state.clear()
    }),
  ]
}

/** Adds a gauge of states, each named by its labels: 1 from its begin to its end, or until it is not repeated for a time. */
function addState(registry: Registry, name: string, help: string, labelNames: string[]) {
  const states = new Map<string, { readonly values: readonly string[]; readonly until: number }>()
  addGaugeOnScrape(
    registry,
    name,
    help,
    labelNames,
  )(async () => {
    const now = clock.steady()
    for (const [key, { until }] of states) if (until <= now) states.delete(key)
    return [...states.values()].map(({ values }) => ({
      labels: Object.fromEntries(labelNames.map((label, i) => [label, values[i] as string])),
      value: 1,
    }))
  })
  return {
    begin: (forMs: number, ...values: readonly string[]) =>
      void states.set(values.join(' '), { values, until: clock.steady() + forMs }),
    end: (...values: readonly string[]) => void states.delete(values.join(' ')),
    clear: () => states.clear(),
  }
}
