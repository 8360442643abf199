// A platform on PostgreSQL at a steady rate, before and while another session holds its snapshot open: a backup, or a forgotten
// transaction. PostgreSQL cannot remove rows that such a snapshot may see, so a table of waiting messages fills with dead rows.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import pg from 'pg'
import { postgresStore, type Store } from '../../bench/harness/stores.ts'
import { freePort } from '../../test/support/free-port.ts'
import { query } from '../../test/support/services/postgres.ts'
import { waitUntilSettled } from '../harness/http.ts'
import { startProcess } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { percentile, readArrivals, startFeed } from '../harness/steady-feed.ts'
import { type LanePlan, planVariable } from '../plans.ts'

interface Size {
  readonly perSecond: number
  /** The duration of the measurement before the snapshot, and of the one at the end of the time in which it is held. */
  readonly windowMs: number
  readonly heldMs: number
}
const full: Size = { perSecond: 1_000, windowMs: 60_000, heldMs: 600_000 }
const small: Size = { perSecond: 200, windowMs: 1_500, heldMs: 3_000 }
const minRate = 0.97
const maxLatencyFactor = 2

export const snapshot: Proof = {
  name: 'snapshot',
  claims:
    'a snapshot that is held open on the database of a platform costs its lanes at most 3 % of their rate and doubles no latency (p95)',
  needs: ['postgres'],
  boundSeconds: { small: 120, full: 1_200 },
  async run(options, signal) {
    await using store = await postgresStore()
    return await proveSnapshot(options, store, signal)
  },
}

async function proveSnapshot(
  { folder, small: isSmall, print }: ProofOptions,
  store: Store,
  signal: AbortSignal,
): Promise<Figures> {
  const size = isSmall ? small : full
  const witness = join(folder, 'witness')
  const port = await freePort()
  const plan: LanePlan = { store: store.url, port, brands: 1, witness }
  const platform = startProcess(new URL('../processes/lane-platform.ts', import.meta.url), {
    env: { [planVariable]: JSON.stringify(plan) },
  })
  await platform.ready
  const feed = startFeed(`http://127.0.0.1:${port}`, { perSecond: size.perSecond, requestsPerSecond: 20 }, signal)
  const measure = async (): Promise<Span> => {
    const [from, readsBefore, sentBefore] = [Date.now(), await indexReads(store), feed.sentAt.length]
    await sleep(size.windowMs)
    const reads = (await indexReads(store)) - readsBefore
    return { from, to: Date.now(), readsPerMessage: reads / (feed.sentAt.length - sentBefore) }
  }

  await sleep(size.windowMs)
  const before = await measure()
  const session = new pg.Client({ connectionString: store.url })
  await session.connect()
  try {
    await session.query('begin isolation level repeatable read')
    await session.query('select 1')
    await sleep(size.heldMs - size.windowMs)
    const held = await measure()
    await feed.stop()
    await waitUntilSettled(feed.platform, signal)
    const arrivals = readArrivals(witness, feed.sentAt.length)
    const [usual, late] = [before, held].map((span) => judge(span, feed.sentAt, arrivals)) as [Judged, Judged]
    print(`before: ${JSON.stringify(usual)}; at the end of ${size.heldMs / 1_000} s: ${JSON.stringify(late)}`)
    // In npm test, other tests run at the same time.
    if (!isSmall) {
      assert.ok(late.rate >= minRate, `the rate fell to ${late.rate}`)
      assert.ok(late.p95_ms <= maxLatencyFactor * usual.p95_ms, `p95 rose from ${usual.p95_ms} to ${late.p95_ms} ms`)
    }
    return {
      messages: feed.sentAt.length,
      rate: late.rate,
      p95_ms_before: usual.p95_ms,
      p95_ms: late.p95_ms,
      index_reads_before: usual.reads_per_message,
      index_reads: late.reads_per_message,
    }
  } finally {
    await session.end()
  }
}

interface Span {
  readonly from: number
  readonly to: number
  readonly readsPerMessage: number
}

interface Judged {
  /** Messages that left in the span, divided by messages that were enqueued in it. */
  readonly rate: number
  /** From the request that enqueues a message to the provider's call. */
  readonly p95_ms: number
  readonly reads_per_message: number
}

function judge({ from, to, readsPerMessage }: Span, sentAt: readonly number[], arrivals: readonly number[]): Judged {
  const within = (times: readonly number[]): number => times.filter((at) => at >= from && at < to).length
  const latencies = arrivals.flatMap((at, i) => (at >= from && at < to ? [at - (sentAt[i] as number)] : []))
  return {
    rate: round(within(arrivals) / within(sentAt)),
    p95_ms: percentile(latencies, 0.95),
    reads_per_message: round(readsPerMessage),
  }
}

/** The index entries that all scans have read so far. The statistics are up to a second old. */
async function indexReads({ url }: Store): Promise<number> {
  const schema = new URL(url).searchParams.get('schema')
  const [row] = await query(
    url,
    `select sum(idx_tup_read)::bigint as reads from pg_stat_user_indexes where schemaname = '${schema}'`,
  )
  return Number(row?.reads)
}

const round = (value: number): number => Math.round(value * 100) / 100
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
