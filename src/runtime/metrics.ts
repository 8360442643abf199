import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type CounterRow, counters } from './counters.ts'
import { on } from './events.ts'

/** How much is in a lane. */
export interface Depth {
  readonly lane: string
  /** 'waiting', 'failed', … */
  readonly state: string
  readonly count: number
}

export interface Metrics {
  /** To be merged with metrics of your own. */
  readonly registry: Registry
  /** Asked on each scrape. @returns a function that ends it */
  depths(read: () => Promise<readonly Depth[]>): () => void
  /** Read on each scrape: bytes in the store of a side, by table. @returns a function that ends it */
  sizes(side: string, read: () => Promise<readonly { readonly table: string; readonly bytes: number }[]>): () => void
  /**
   * The values that a label may have beside those allowed before: any other becomes `other`, so that what strangers send makes no
   * series. Labels that nothing was allowed for keep what comes.
   */
  allow(label: string, values: readonly string[]): void
  stop(): void
}

/**
 * Counts what happens (events.ts) for Prometheus. Nothing is counted before this is called.
 *
 * @example const { registry } = createMetrics(); await registry.metrics()
 */
export function createMetrics(registry = new Registry()): Metrics {
  const depths = gaugeOnScrape(registry, 'lane_depth', 'Messages in a lane, by state', ['lane', 'state'])
  const sizes = gaugeOnScrape(registry, 'store_bytes', 'Bytes of a table with its indexes', ['side', 'table'])
  const allowed: Allowed = new Map()
  const byName = Map.groupBy(counters, ({ name }) => name).values()
  const counts = [...byName].flatMap((rows) => count(registry, rows, allowed))
  const ends = [...counts, ...times(registry), ...states(registry)]
  return {
    registry,
    depths: (read) => depths(async () => (await read()).map(({ count, ...labels }) => ({ labels, value: count }))),
    sizes: (side, read) =>
      sizes(async () => (await read()).map(({ table, bytes }) => ({ labels: { side, table }, value: bytes }))),
    allow(label, values) {
      allowed.set(label, new Set([...(allowed.get(label) ?? []), ...values]))
    },
    stop() {
      for (const end of ends.splice(0)) end()
    },
  }
}

interface Tally {
  readonly labels: Record<string, string>
  more: number
}
type Allowed = Map<string, ReadonlySet<unknown>>
/** By the value of each label in turn. */
type Branch = Map<unknown, Branch | Tally>

/**
 * A Counter hashes its labels on each inc(); events come a hundred thousand times a second, scrapes do not: so we add up ourselves,
 * and make nothing for an event.
 */
function count(registry: Registry, rows: readonly CounterRow[], allowed: Allowed): (() => void)[] {
  const tallies: Tally[] = []
  const { name, help, by } = rows[0] as CounterRow
  new Counter({
    name: `bellwire_${name}_total`,
    help,
    labelNames: by,
    registers: [registry],
    collect() {
      for (const tally of tallies) {
        this.inc(tally.labels, tally.more)
        tally.more = 0
      }
    },
  })
  return rows.map((row) => tally(row, tallies, allowed))
}

function tally({ event, by, sum, only }: CounterRow, tallies: Tally[], allowed: Allowed): () => void {
  // Without labels all events are of one kind.
  const path = by.length > 0 ? by : ['']
  const byLabel: Branch = new Map()
  return on(event, (happened) => {
    const fields = happened as Readonly<Record<string, unknown>>
    if (only && !fields[only]) return
    let node: Branch | Tally = byLabel
    for (const label of path) {
      const value = shownValue(label, fields)
      node = (node as Branch).get(value) ?? grow(node as Branch, label, value, fields)
    }
    const tally = node as Tally
    tally.more += sum ? Number(fields[sum]) : 1
  })

  function shownValue(label: string, fields: Readonly<Record<string, unknown>>): unknown {
    const value = fields[label]
    return allowed.get(label)?.has(value) === false ? 'other' : value
  }

  /** What comes after this label's value, seen for the first time. */
  function grow(
    branch: Branch,
    label: string,
    value: unknown,
    fields: Readonly<Record<string, unknown>>,
  ): Branch | Tally {
    const made: Branch | Tally =
      label === path.at(-1)
        ? { labels: Object.fromEntries(by.map((each) => [each, String(shownValue(each, fields))])), more: 0 }
        : new Map()
    branch.set(value, made)
    if ('labels' in made) tallies.push(made)
    return made
  }
}

/** How long calls and transactions take, and how many share one. */
function times(registry: Registry): (() => void)[] {
  const histogram = (name: string, help: string, label: string, buckets: number[]) =>
    new Histogram({ name: `bellwire_${name}`, help, labelNames: [label], buckets, registers: [registry] })
  const ofCalls = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
  const ofCommits = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]
  const calls = histogram('call_seconds', 'Calls to providers', 'provider', ofCalls)
  const commits = histogram('commit_seconds', 'Transactions', 'durable', ofCommits)
  const rows = histogram('commit_rows', 'Rows in one transaction', 'durable', [1, 10, 100, 1000, 10_000])
  return [
    on('call.done', ({ provider, ms }) => calls.observe({ provider }, ms / 1000)),
    on('store.commit', ({ durable, ms, rows: count }) => {
      commits.observe({ durable: String(durable) }, ms / 1000)
      rows.observe({ durable: String(durable) }, count)
    }),
  ]
}

/** What is the case now. */
function states(registry: Registry): (() => void)[] {
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `bellwire_${name}`, help, labelNames, registers: [registry] })
  const up = gauge('store_up', '1: the store can be reached')
  const owned = gauge('lane_owned', '1: this process owns the lane', 'lane')
  const paused = gauge('provider_paused', '1: no calls until a probe succeeds', 'provider')
  const stopped = gauge('removals_stopped', '1: no device is removed until a person confirms', 'service')
  const streams = gauge('inbox_streams', 'Open streams of inboxes')
  const found = gauge('discrepancies', 'Found by the last good reconciliation', 'brand', 'field', 'severity')
  up.set(1)
  return [
    on('store.lost', () => up.set(0)),
    on('store.back', () => up.set(1)),
    on('lane.owned', ({ lane }) => owned.set({ lane }, 1)),
    on('lane.lost', ({ lane }) => owned.set({ lane }, 0)),
    on('provider.paused', ({ provider }) => paused.set({ provider }, 1)),
    on('provider.resumed', ({ provider }) => paused.set({ provider }, 0)),
    on('removals.stopped', ({ service }) => stopped.set({ service }, 1)),
    on('removals.confirmed', ({ service }) => stopped.set({ service }, 0)),
    on('crm.compared', ({ brand, field, state, ...counts }) => {
      if (state !== 'done') return
      for (const severity of ['critical', 'high', 'low'] as const)
        found.set({ brand, field, severity }, counts[severity])
    }),
    on('inbox.opened', () => streams.inc()),
    on('inbox.closed', () => streams.dec()),
  ]
}

type ReadSamples = () => Promise<readonly { readonly labels: Record<string, string>; readonly value: number }[]>

/** A gauge that is read on each scrape. @returns a function that adds a reader, and returns a function that removes it */
function gaugeOnScrape(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
): (read: ReadSamples) => () => void {
  const readers = new Set<ReadSamples>()
  new Gauge({
    name: `bellwire_${name}`,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset()
      // A store that cannot answer must not take the other metrics away.
      for (const read of await Promise.allSettled([...readers].map((read) => read())))
        for (const { labels, value } of read.status === 'fulfilled' ? read.value : []) this.set(labels, value)
    },
  })
  return (read) => {
    readers.add(read)
    return () => void readers.delete(read)
  }
}

let ofThisProcess: Metrics | undefined

/** The metrics of this process, which its events feed: counting begins with the first call. */
export function metrics(): Metrics {
  if (!ofThisProcess) {
    ofThisProcess = createMetrics()
    collectDefaultMetrics({ register: ofThisProcess.registry })
  }
  return ofThisProcess
}

/** For GET /metrics, as Prometheus' text format 0.0.4. */
export async function metricsText(): Promise<string> {
  return metrics().registry.metrics()
}
