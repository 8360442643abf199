import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { type CounterRow, counters } from './counters.ts'
import { on } from './events.ts'
import { addGaugeOnScrape } from './gauge-on-scrape.ts'
import { type HistogramRow, histograms } from './histograms.ts'
import { pausedProviders } from './pauses.ts'
import { addTimedGauges } from './timed-gauges.ts'
import { version } from './version.ts'

/** The number of messages of a lane in one state. */
export interface Depth {
  readonly lane: string
  /** 'waiting', 'failed', … */
  readonly state: string
  readonly count: number
}

/** How many discrepancies the lists of a brand have. */
export interface Discrepancies extends Readonly<Record<(typeof severities)[number], number>> {
  readonly brand: string
  readonly field: string
}
const severities = ['critical', 'high', 'low'] as const

export interface Metrics {
  /** Can be merged with the registry of the host program. */
  readonly registry: Registry
  /** Adds a reader of lane depths that runs at each scrape. @returns a function that removes the reader */
  depths(read: () => Promise<readonly Depth[]>): () => void
  /** Adds a reader of the age of the oldest waiting message of each lane that runs at each scrape. @returns a function that removes the reader */
  oldest(read: () => Promise<readonly { readonly lane: string; readonly ageMs: number }[]>): () => void
  /** Adds a reader of table sizes in bytes that runs at each scrape. @returns a function that removes the reader */
  sizes(side: string, read: () => Promise<readonly { readonly table: string; readonly bytes: number }[]>): () => void
  /** Adds a store, which is checked at each scrape. @returns a function that removes it */
  storeUp(check: () => Promise<boolean>): () => void
  /** Adds a reader of the free bytes of a disk that runs at each scrape. @returns a function that removes the reader */
  diskFree(side: string, read: () => Promise<number | undefined>): () => void
  /** Adds a reader of the keys in use that will expire, with their times in epoch milliseconds. @returns a function that removes the reader */
  keyExpiries(read: () => readonly { readonly key: string; readonly at: number }[]): () => void
  /** Adds a reader of the discrepancies that are to be corrected, by severity. @returns a function that removes the reader */
  discrepancies(read: () => Promise<readonly Discrepancies[]>): () => void
  /** Adds a consumer of a queue or topic, which is read at each scrape. @returns a function that removes it */
  consumer(
    name: string,
    read: { readonly up: () => boolean; readonly lag: () => Promise<number | undefined> },
  ): () => void
  /**
   * Adds allowed values of a label. Any other value is reported as `other`, so that untrusted input cannot create time series.
   * A label without allowed values accepts every value.
   */
  allow(label: string, values: readonly string[]): void
  stop(): void
}

/**
 * Counts events (events.ts) for Prometheus, from this call on.
 *
 * @example const { registry } = createMetrics(); await registry.metrics()
 */
export function createMetrics(registry = new Registry()): Metrics {
  const depths = addGaugeOnScrape(registry, 'lane_depth', 'Messages in a lane, by state', ['lane', 'state'])
  const oldest = addGaugeOnScrape(registry, 'lane_oldest_seconds', 'Age of the oldest waiting message of a lane', [
    'lane',
  ])
  const sizes = addGaugeOnScrape(registry, 'store_bytes', 'Bytes of a table with its indexes', ['side', 'table'])
  const stores = new Set<() => Promise<boolean>>()
  const diskFree = addGaugeOnScrape(registry, 'disk_free_bytes', 'Free bytes on the disk of the SQLite file', ['side'])
  const up = addGaugeOnScrape(registry, 'consumer_up', '1 while a queue or topic is consumed, otherwise 0', [
    'consumer',
  ])
  const expiries = addGaugeOnScrape(registry, 'key_expires_timestamp_seconds', 'When a key that is used expires', [
    'key',
  ])
  const found = addGaugeOnScrape(
    registry,
    'discrepancies',
    'Discrepancies of the last completed comparison that nobody has acknowledged',
    ['brand', 'field', 'severity'],
  )
  const lag = addGaugeOnScrape(registry, 'consumer_lag', 'Messages that wait at the broker', ['consumer'])
  const allowed: AllowedValues = new Map()
  const byName = Map.groupBy(counters, ({ name }) => name).values()
  const counterEnds = [...byName].flatMap((rows) => addCounter(registry, rows, allowed))
  const histogramEnds = histograms.map((row) => addHistogram(registry, row, allowed))
  const ends = [...counterEnds, ...histogramEnds, ...addGauges(registry), ...addTimedGauges(registry)]
  addGaugeOnScrape(
    registry,
    'store_up',
    '1 while all stores can store, otherwise 0',
    [],
  )(async () => {
    const states = await Promise.all([...stores].map((check) => check()))
    return [{ labels: {}, value: states.every(Boolean) ? 1 : 0 }]
  })
  return {
    registry,
    depths: (read) => depths(async () => (await read()).map(({ count, ...labels }) => ({ labels, value: count }))),
    oldest: (read) =>
      oldest(async () => (await read()).map(({ ageMs, ...labels }) => ({ labels, value: ageMs / 1_000 }))),
    sizes: (side, read) =>
      sizes(async () => (await read()).map(({ table, bytes }) => ({ labels: { side, table }, value: bytes }))),
    storeUp(check) {
      stores.add(check)
      return () => void stores.delete(check)
    },
    diskFree: (side, read) =>
      diskFree(async () => {
        const value = await read()
        return value === undefined ? [] : [{ labels: { side }, value }]
      }),
    keyExpiries: (read) => expiries(async () => read().map(({ key, at }) => ({ labels: { key }, value: at / 1_000 }))),
    discrepancies: (read) =>
      found(async () =>
        (await read()).flatMap(({ brand, field, ...counts }) =>
          severities.map((severity) => ({ labels: { brand, field, severity }, value: counts[severity] })),
        ),
      ),
    consumer(consumer, read) {
      const labels = { consumer }
      const removeUp = up(async () => [{ labels, value: read.up() ? 1 : 0 }])
      const removeLag = lag(async () => {
        const value = await read.lag()
        return value === undefined ? [] : [{ labels, value }]
      })
      return () => {
        removeUp()
        removeLag()
      }
    },
    allow(label, values) {
      allowed.set(label, new Set([...(allowed.get(label) ?? []), ...values]))
    },
    stop() {
      for (const end of ends.splice(0)) end()
    },
  }
}

type AllowedValues = Map<string, ReadonlySet<unknown>>
type Fields = Readonly<Record<string, unknown>>
/** A tree of series with one level for each label. */
type Branch<Series> = Map<unknown, Branch<Series> | Series>

/**
 * Finds the series of an event by its labels. prom-client hashes the labels of each call, too slow for a hundred thousand events a
 * second: so events are added to a series of ours, without allocating, and a scrape reads the series.
 */
function createSeries<Series extends object>(
  by: readonly string[],
  allowed: AllowedValues,
  create: (labels: Record<string, string>) => Series,
): (fields: Fields) => Series {
  // Without labels the tree has one level, with a single key.
  const path = by.length > 0 ? by : ['']
  const root: Branch<Series> = new Map()
  return (fields) => {
    let node: Branch<Series> | Series = root
    for (const label of path) {
      const value = labelValue(label, fields)
      node = (node as Branch<Series>).get(value) ?? addNode(node as Branch<Series>, label, value, fields)
    }
    return node as Series
  }

  function labelValue(label: string, fields: Fields): unknown {
    const value = fields[label]
    return allowed.get(label)?.has(value) === false ? 'other' : value
  }

  /** Adds the node for a label value that has not occurred before. */
  function addNode(branch: Branch<Series>, label: string, value: unknown, fields: Fields): Branch<Series> | Series {
    const node =
      label === path.at(-1)
        ? create(Object.fromEntries(by.map((each) => [each, String(labelValue(each, fields))])))
        : new Map()
    branch.set(value, node)
    return node
  }
}

/** Adds a Counter and its subscriptions. */
function addCounter(registry: Registry, rows: readonly CounterRow[], allowed: AllowedValues): (() => void)[] {
  /** `pending` is not yet added to the Counter. */
  const tallies: { readonly labels: Record<string, string>; pending: number }[] = []
  const { name, help, by } = rows[0] as CounterRow
  new Counter({
    name: `bellwire_${name}_total`,
    help,
    labelNames: by,
    registers: [registry],
    collect() {
      for (const tally of tallies) {
        this.inc(tally.labels, tally.pending)
        tally.pending = 0
      }
    },
  })
  return rows.map(({ event, only, sum }) => {
    const find = createSeries(by, allowed, (labels) => {
      const tally = { labels, pending: 0 }
      tallies.push(tally)
      return tally
    })
    return on(event, (payload) => {
      const fields = payload as Fields
      if (only && !fields[only]) return
      find(fields).pending += sum ? Number(fields[sum]) : 1
    })
  })
}

/** Adds a histogram and its subscription. The Histogram of prom-client cannot take over counts. */
function addHistogram(registry: Registry, row: HistogramRow, allowed: AllowedValues): () => void {
  const { event, help, by, value: observed, divisor, buckets } = row
  const name = `bellwire_${row.name}`
  /** `counts` has the observations of each bucket, not those of smaller ones, and at its end those above all buckets. */
  const all: { readonly labels: Record<string, string>; readonly counts: number[]; sum: number }[] = []
  const bounds = [...buckets, Number.POSITIVE_INFINITY]
  const find = createSeries(by, allowed, (labels) => {
    const series = { labels, counts: bounds.map(() => 0), sum: 0 }
    all.push(series)
    return series
  })
  const metric = {
    name,
    help,
    type: 'histogram',
    labelNames: by,
    aggregator: 'sum',
    get: async () => ({ ...metric, values: all.flatMap(valuesOf) }),
    reset() {
      for (const series of all) Object.assign(series, { counts: bounds.map(() => 0), sum: 0 })
    },
  }
  registry.registerMetric(metric as unknown as Metric)
  return on(event, (payload) => {
    const fields = payload as Fields
    const series = find(fields)
    const value = Number(fields[observed]) / divisor
    let i = 0
    while (value > (bounds[i] as number)) i++
    series.counts[i] = (series.counts[i] as number) + 1
    series.sum += value
  })

  function valuesOf({ labels, counts, sum }: (typeof all)[number]) {
    let count = 0
    const ofBuckets = counts.map((own, i) => {
      count += own
      const le = i < buckets.length ? String(buckets[i]) : '+Inf'
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
    })
    return [
      ...ofBuckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}

/** Current states. */
function addGauges(registry: Registry): (() => void)[] {
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `bellwire_${name}`, help, labelNames, registers: [registry] })
  const owned = gauge('lane_owned', '1 while this process owns the lane, otherwise 0', 'lane')
  const pausedLane = gauge('lane_paused', '1 while the lane is paused, otherwise 0; set by its owner', 'lane')
  addGaugeOnScrape(registry, 'provider_paused', '1 while the provider is paused, otherwise 0', ['provider'])(async () =>
    [...pausedProviders()].map(([provider, paused]) => ({ labels: { provider }, value: Number(paused) })),
  )
  const stopped = gauge('removals_stopped', '1 while device removal waits for confirmation, otherwise 0', 'service')
  const streams = gauge('inbox_streams', 'Open inbox streams')
  const leaveLane = (lane: string): void => {
    owned.set({ lane }, 0)
    pausedLane.set({ lane }, 0)
  }
  return [
    on('lane.owned', ({ lane }) => owned.set({ lane }, 1)),
    on('lane.lost', ({ lane }) => leaveLane(lane)),
    on('lane.returned', ({ lane }) => leaveLane(lane)),
    on('lane.paused', ({ lane }) => pausedLane.set({ lane }, 1)),
    on('lane.resumed', ({ lane }) => pausedLane.set({ lane }, 0)),
    on('removals.stopped', ({ service }) => stopped.set({ service }, 1)),
    on('removals.confirmed', ({ service }) => stopped.set({ service }, 0)),
    on('inbox.opened', () => streams.inc()),
    on('inbox.closed', () => streams.dec()),
  ]
}

let ofThisProcess: Metrics | undefined

/** The metrics of this process. Counting starts at the first call. */
export function metrics(): Metrics {
  if (!ofThisProcess) {
    ofThisProcess = createMetrics()
    const { registry } = ofThisProcess
    collectDefaultMetrics({ register: registry })
    const build = { name: 'bellwire_build_info', help: 'The version of Bellwire', labelNames: ['version'] }
    new Gauge({ ...build, registers: [registry] }).set({ version: version() }, 1)
  }
  return ofThisProcess
}

/** The metrics in Prometheus text format 0.0.4, for GET /metrics. */
export async function metricsText(): Promise<string> {
  return metrics().registry.metrics()
}
