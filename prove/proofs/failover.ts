// Both sides on a pair of PostgreSQL servers, whose primary is killed under load again and again.

import assert from 'node:assert/strict'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createFeed } from '../harness/feed.ts'
import { admin, enqueue, type OperatorSummary, waitUntilSettled } from '../harness/http.ts'
import { startPatroniPair } from '../harness/patroni-pair.ts'
import { startPostgresPair } from '../harness/postgres-pair.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, records } from '../harness/records.ts'
import { createSetup } from '../harness/setup.ts'
import { findUndelivered } from '../harness/verdict.ts'

const lane = { max: 50, spanMs: 20, concurrency: 4, retry: { firstMs: 100, mostMs: 1_000 } }
/** Both channels of both brands. */
const mostInFlight = 4 * lane.concurrency * lane.max

export const failover: Proof = {
  name: 'failover',
  claims:
    'the primary of two PostgreSQL servers is killed under load ten times. With synchronous replication, in full size managed by Patroni, no accepted record is lost, and each second delivery is counted as uncertain. With asynchronous replication (full size) a lost record is delivered when it is enqueued again',
  needs: ['postgres'],
  boundSeconds: { small: 240, full: 3_600 },
  async run(options, signal) {
    const { small, folder, print } = options
    const figures = await prove(options, true, signal)
    if (small) return figures
    print('asynchronous replication:')
    const again = join(folder, 'asynchronous')
    mkdirSync(again)
    const { lost = 0, second_deliveries = 0 } = await prove({ ...options, folder: again }, false, signal)
    return { ...figures, asynchronous_lost: lost, asynchronous_second_deliveries: second_deliveries }
  },
}

async function prove(
  { small, folder, print }: ProofOptions,
  synchronous: boolean,
  signal: AbortSignal,
): Promise<Figures> {
  const kills = small ? 2 : 10
  const between = small ? 500 : 5_000
  const pair = await (synchronous && !small ? startPatroniPair(signal) : startPostgresPair(synchronous, signal))
  try {
    const setup = await createSetup({
      folder,
      operatorStore: `${pair.url}&schema=operator`,
      platformStore: `${pair.url}&schema=platform`,
      lane,
    })
    await Promise.all([setup.operator().ready, setup.platform().ready])
    const feed = createFeed(setup.platformUrl, small ? 20 : 100)
    feed.start()
    const promotions: number[] = []
    const pauses: number[] = []
    for (let kill = 1; kill <= kills; kill++) {
      await feed.upTo(feed.accepted() + between)
      const killed = performance.now()
      await pair.killPrimary()
      promotions.push(Math.round(performance.now() - killed))
      const promoted = performance.now()
      const size = witnessSize(folder)
      await feed.upTo(feed.accepted() + 1)
      while (witnessSize(folder) === size) {
        signal.throwIfAborted()
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      pauses.push(Math.round(performance.now() - promoted))
      await pair.rejoin()
      print(`kill ${kill} of ${kills}: the first message was sent ${pauses.at(-1)} ms after the promotion`)
    }
    await feed.stop()
    await waitUntilSettled(setup.platformUrl, signal)
    const lost = await enqueueLost(setup.platformUrl, feed.accepted())
    if (synchronous) assert.equal(lost, 0)
    await waitUntilSettled(setup.platformUrl, signal)
    const witness = await setup.readReport()
    assert.deepEqual(await findUndelivered(setup.platformUrl, feed.accepted(), witness), [])
    const { uncertain } = await admin<OperatorSummary>(setup.operatorUrls[0] as string, '/admin/summary')
    const { secondCalls } = witness
    if (synchronous) assert.ok(secondCalls <= uncertain, `${secondCalls} second deliveries, ${uncertain} uncertain`)
    assert.ok(uncertain <= kills * mostInFlight, `${uncertain} uncertain`)
    return {
      records: feed.accepted(),
      kills,
      lost,
      second_deliveries: secondCalls,
      uncertain,
      bound: kills * mostInFlight,
      longest_promotion_ms: Math.max(...promotions),
      longest_pause_ms: Math.max(...pauses),
    }
  } finally {
    pair.stop()
  }
}

/** Enqueues all records again. @returns the number of records that the platform had lost */
async function enqueueLost(platformUrl: string, count: number): Promise<number> {
  let lost = 0
  for (let from = 0; from < count; from += 2_000)
    lost += (await enqueue(platformUrl, 'push', ndjson(records(from, Math.min(2_000, count - from))))).accepted
  return lost
}

const witnessSize = (folder: string): number =>
  statSync(join(folder, 'witness.ndjson'), { throwIfNoEntry: false })?.size ?? 0
