import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type CounterRow, counters } from './counters.ts'
import { on } from './events.ts'

/** The number of messages of a lane in one state. */
export interface Depth {
  readonly lane: string
  /** 'waiting', 'failed', … */
  readonly state: string
  readonly count: number
}

export interface Metrics {
  /** Can be merged with the registry of the host program. */
  readonly registry: Registry
  /** Adds a reader of lane depths that runs at each scrape. @returns a function that removes the reader */
  depths(read: () => Promise<readonly Depth[]>): () => void
  /** Adds a reader of table sizes in bytes that runs at each scrape. @returns a function that removes the reader */
  sizes(side: string, read: () => Promise<readonly { readonly table: string; readonly bytes: number }[]>): () => void
  /** Adds a store, which is checked at each scrape. @returns a function that removes it */
  storeUp(check: () => Promise<boolean>): () => void
  /** Adds a reader of the free bytes of a disk that runs at each scrape. @returns a function that removes the reader */
  diskFree(side: string, read: () => Promise<number | undefined>): () => void
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
  const sizes = addGaugeOnScrape(registry, 'store_bytes', 'Bytes of a table with its indexes', ['side', 'table'])
  const stores = new Set<() => Promise<boolean>>()
  const diskFree = addGaugeOnScrape(registry, 'disk_free_bytes', 'Free bytes on the disk of the SQLite file', ['side'])
  const up = addGaugeOnScrape(registry, 'consumer_up', '1 while a queue or topic is consumed, otherwise 0', [
    'consumer',
  ])
  const lag = addGaugeOnScrape(registry, 'consumer_lag', 'Messages that wait at the broker', ['consumer'])
  const allowed: AllowedValues = new Map()
  const byName = Map.groupBy(counters, ({ name }) => name).values()
  const counterEnds = [...byName].flatMap((rows) => addCounter(registry, rows, allowed))
  const ends = [...counterEnds, ...addHistograms(registry), ...addGauges(registry)]
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

interface Tally {
  readonly labels: Record<string, string>
  /** Not yet added to the Counter. */
  pending: number
}
type AllowedValues = Map<string, ReadonlySet<unknown>>
/** A tree of tallies with one level for each label. */
type Branch = Map<unknown, Branch | Tally>

/**
 * Adds a Counter and its subscriptions. Counter.inc() hashes its labels, too slow for a hundred thousand events a second:
 * events are added to tallies, without allocating, and a scrape adds the tallies to the Counter.
 */
function addCounter(registry: Registry, rows: readonly CounterRow[], allowed: AllowedValues): (() => void)[] {
  const tallies: Tally[] = []
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
  return rows.map((row) => tallyEvents(row, tallies, allowed))
}

function tallyEvents({ event, by, sum, only }: CounterRow, tallies: Tally[], allowed: AllowedValues): () => void {
  // A counter without labels has a tree of one level, with a single key.
  const path = by.length > 0 ? by : ['']
  const byLabel: Branch = new Map()
  return on(event, (payload) => {
    const fields = payload as Readonly<Record<string, unknown>>
    if (only && !fields[only]) return
    let node: Branch | Tally = byLabel
    for (const label of path) {
      const value = labelValue(label, fields)
      node = (node as Branch).get(value) ?? addNode(node as Branch, label, value, fields)
    }
    const tally = node as Tally
    tally.pending += sum ? Number(fields[sum]) : 1
  })

  function labelValue(label: string, fields: Readonly<Record<string, unknown>>): unknown {
    const value = fields[label]
    return allowed.get(label)?.has(value) === false ? 'other' : value
  }

  /** Adds the node for a label value that has not occurred before. */
  function addNode(
    branch: Branch,
    label: string,
    value: unknown,
    fields: Readonly<Record<string, unknown>>,
  ): Branch | Tally {
    const node: Branch | Tally =
      label === path.at(-1)
        ? { labels: Object.fromEntries(by.map((each) => [each, String(labelValue(each, fields))])), pending: 0 }
        : new Map()
    branch.set(value, node)
    if ('labels' in node) tallies.push(node)
    return node
  }
}

/** Durations of calls and transactions, and rows per transaction. */
function addHistograms(registry: Registry): (() => void)[] {
  const histogram = (name: string, help: string, label: string, buckets: number[]) =>
    new Histogram({ name: `bellwire_${name}`, help, labelNames: [label], buckets, registers: [registry] })
  const ofCalls = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
  const ofCommits = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]
  const calls = histogram('call_seconds', 'Duration of provider calls', 'provider', ofCalls)
  const commits = histogram('commit_seconds', 'Duration of transactions', 'durable', ofCommits)
  const rows = histogram('commit_rows', 'Rows in one transaction', 'durable', [1, 10, 100, 1000, 10_000])
  return [
    on('call.done', ({ provider, ms }) => calls.observe({ provider }, ms / 1000)),
    on('store.commit', ({ durable, ms, rows: count }) => {
      commits.observe({ durable: String(durable) }, ms / 1000)
      rows.observe({ durable: String(durable) }, count)
    }),
  ]
}

/** Current states. */
function addGauges(registry: Registry): (() => void)[] {
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `bellwire_${name}`, help, labelNames, registers: [registry] })
  const owned = gauge('lane_owned', '1 while this process owns the lane, otherwise 0', 'lane')
  const pausedLane = gauge('lane_paused', '1 while the lane is paused, otherwise 0; set by its owner', 'lane')
  const paused = gauge('provider_paused', '1 while the provider is paused, otherwise 0', 'provider')
  const stopped = gauge('removals_stopped', '1 while device removal waits for confirmation, otherwise 0', 'service')
  const streams = gauge('inbox_streams', 'Open inbox streams')
  const found = gauge('discrepancies', 'Discrepancies in the last completed comparison', 'brand', 'field', 'severity')
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
    on('provider.paused', ({ provider, sending }) => paused.set({ provider }, sending ? 0 : 1)),
    on('provider.resumed', ({ provider, sending }) => paused.set({ provider }, sending === false ? 1 : 0)),
    on('removals.stopped', ({ service }) => stopped.set({ service }, 1)),
    on('removals.confirmed', ({ service }) => stopped.set({ service }, 0)),
    on('run.ended', ({ brand, field, state, ...counts }) => {
      if (state !== 'done') return
      for (const severity of ['critical', 'high', 'low'] as const)
        found.set({ brand, field, severity }, counts[severity])
    }),
    on('inbox.opened', () => streams.inc()),
    on('inbox.closed', () => streams.dec()),
  ]
}

type ReadSamples = () => Promise<readonly { readonly labels: Record<string, string>; readonly value: number }[]>

/** Adds a gauge that is read at each scrape. @returns a function that adds a reader and returns the function that removes it */
function addGaugeOnScrape(
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
      // An unavailable store must not fail the scrape of the other metrics.
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

/** The metrics of this process. Counting starts at the first call. */
export function metrics(): Metrics {
  if (!ofThisProcess) {
    ofThisProcess = createMetrics()
    collectDefaultMetrics({ register: ofThisProcess.registry })
  }
  return ofThisProcess
}

/** The metrics in Prometheus text format 0.0.4, for GET /metrics. */
export async function metricsText(): Promise<string> {
  return metrics().registry.metrics()
}
