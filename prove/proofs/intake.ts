// Records from a broker to the lanes of a platform of two processes, while processes are killed, the broker is killed and restarted,
// and the database is away.

import assert from 'node:assert/strict'
import { postgresStore } from '../../bench/harness/stores.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { freePort } from '../../test/support/free-port.ts'
import { query } from '../../test/support/services/postgres.ts'
import { admin, waitUntilSettled } from '../harness/http.ts'
import { type NetworkProxy, startNetworkProxy } from '../harness/network-proxy.ts'
import { memoryOf, type Process, startProcess } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { type PublishedRecord, type RecordBroker, startRecordBroker } from '../harness/record-broker.ts'
import { record } from '../harness/records.ts'
import { retryUntil } from '../harness/retry-until.ts'
import { planVariable } from '../plans.ts'
import type { BrokerName, IntakePlan } from '../processes/intake-platform.ts'

const source = 'activities'

function proofOver(name: BrokerName, service: 'rabbitmq' | 'kafka'): Proof {
  return {
    name: `intake-${name}`,
    claims: `records from ${service} with killed platform processes, a killed broker and a database that is away: each is once in its lane, and none is parked`,
    needs: ['postgres', service],
    boundSeconds: { small: 240, full: 1_200 },
    async run(options, signal) {
      await using store = await postgresStore()
      const broker = await startRecordBroker(name)
      const database = await startNetworkProxy(Number(new URL(store.url).port || 5432))
      try {
        return await strikeWhileConsuming({ name, broker, database, store: store.url, ...options }, signal)
      } finally {
        await broker.stop()
        await database.close()
      }
    },
  }
}

export const intake: readonly Proof[] = [proofOver('amqp', 'rabbitmq'), proofOver('kafka', 'kafka')]

interface Setup extends ProofOptions {
  readonly name: BrokerName
  readonly broker: RecordBroker
  /** The connection between the processes and their database. */
  readonly database: NetworkProxy
  readonly store: string
}

async function strikeWhileConsuming(setup: Setup, signal: AbortSignal): Promise<Figures> {
  const { name, broker, database, store, small, print } = setup
  const undisturbed = small ? 400 : 40_000
  const publishedAtOnce = small ? 20 : 500
  const awayMs = small ? 2_000 : 10_000
  const proxied = new URL(store)
  proxied.host = `127.0.0.1:${database.port}`
  const ports = [await freePort(), await freePort()]
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const counts = { accepted: 0, repeated: 0 }

  const start = async (which: number): Promise<Process> => {
    const plan: IntakePlan = {
      store: proxied.href,
      port: ports[which] as number,
      broker: name,
      address: broker.address,
      source,
    }
    const process = startProcess(new URL('../processes/intake-platform.ts', import.meta.url), {
      env: { [planVariable]: JSON.stringify(plan) },
      onMessage(message) {
        counts.accepted += Number(message.accepted ?? 0)
        counts.repeated += Number(message.repeated ?? 0)
      },
    })
    await process.ready
    return process
  }
  const running = [await start(0), await start(1)]
  const memory = watchMemory(() => running.map(({ pid }) => pid))
  const restart = async (which: number): Promise<void> => {
    running[which] = await start(which)
  }
  const kill = async (which: number): Promise<void> => {
    const process = running[which] as Process
    process.signal('SIGKILL')
    await process.ended
  }

  let published = 0
  let attempts = 0
  const publish = async (until: number): Promise<void> => {
    while (published < until) {
      const batch = recordsFrom(published, Math.min(publishedAtOnce, until - published))
      await retryUntil(() => {
        attempts += batch.length
        return broker.publish(source, batch)
      }, signal)
      published += batch.length
    }
  }

  /** Publishes records until a process reports that it stores them, or that the database is away: it may have no partition yet. */
  const publishUntil = async (event: Promise<unknown>): Promise<void> => {
    let over = false
    const watched = event.finally(() => {
      over = true
    })
    watched.catch(() => {})
    while (!over) {
      signal.throwIfAborted()
      await publish(published + publishedAtOnce)
      await sleep(small ? 200 : 20)
    }
    await watched
  }

  const untilConsuming = (): Promise<void> =>
    retryUntil(async () => {
      const states = await Promise.all(urls.map(async (url) => (await readConsumer(url)).state))
      assert.deepEqual(states, ['consuming', 'consuming'])
    }, signal)
  const cutDatabase = async (): Promise<void> => {
    const held = Promise.race(running.map((process) => process.waitFor('consumer.held')))
    database.cut()
    await publishUntil(held)
  }
  const strikes: readonly { readonly name: string; strike(): Promise<void> }[] = [
    {
      name: 'a platform process was killed while it stored records',
      async strike() {
        await publishUntil((running[0] as Process).waitFor('queue.enqueued'))
        await kill(0)
        await restart(0)
      },
    },
    {
      name: 'the broker was killed and restarted',
      async strike() {
        const publishing = publish(published + undisturbed)
        publishing.catch(() => {})
        await broker.broker.kill()
        await broker.broker.restart()
        await publishing
      },
    },
    {
      name: `the database was away for ${awayMs / 1_000} s`,
      async strike() {
        await cutDatabase()
        await sleep(awayMs)
        database.restore()
        // A process that still waits before its next attempt would not notice the next failure.
        await untilConsuming()
      },
    },
    {
      name: 'a platform process was killed while the database was away',
      async strike() {
        await cutDatabase()
        await kill(1)
        database.restore()
        await restart(1)
      },
    },
  ]

  // The queue or topic exists when it is consumed.
  await untilConsuming()
  const began = performance.now()
  await publish(undisturbed)
  await retryUntil(async () => assert.equal(await countItems(store), undisturbed), signal)
  const perSecond = Math.round((undisturbed * 1_000) / (performance.now() - began))
  print(`${undisturbed} records undisturbed, ${perSecond} a second`)
  for (const { name: strikeName, strike } of strikes) {
    await strike()
    await publish(published + undisturbed)
    print(`${published} records: ${strikeName}`)
  }
  const total = published

  await retryUntil(async () => assert.ok((await countItems(store)) >= total), signal)
  await retryUntil(async () => {
    const lags = await Promise.all(urls.map(async (url) => (await readConsumer(url)).lag))
    assert.deepEqual(lags, [0, 0], 'everything is acknowledged')
  }, signal)
  const seconds = Math.round((performance.now() - began) / 100) / 10
  const summary = await waitUntilSettled(urls[0] as string, signal)
  const peak = memory.stop()
  const { items: parked } = await admin<{ items: object[] }>(urls[0] as string, '/admin/failed?limit=100')
  assert.deepEqual(parked, [], 'no record was parked: all were readable')
  assert.deepEqual(await readLanes(store), expectedLanes(total), 'each record is once in its lane')
  assert.deepEqual(summary, { ...summary, waiting: 0, successful: total, failed: 0 })
  return {
    records: total,
    publish_attempts: attempts,
    stored_before: counts.repeated,
    undisturbed_per_second: perSecond,
    consumed_in_seconds: seconds,
    peak_mb: Math.round(peak / 1024 ** 2),
  }
}

function recordsFrom(from: number, count: number): PublishedRecord[] {
  return Array.from({ length: count }, (_, i) => ({ channel: channelOf(from + i), text: record(from + i).text }))
}

/** The records 2n and 2n+1 have the two brands, so pairs alternate between the channels. */
const channelOf = (n: number): 'push' | 'site' => (n % 4 < 2 ? 'push' : 'site')

/** 'lane key' of every record, sorted. */
function expectedLanes(total: number): readonly string[] {
  return Array.from({ length: total }, (_, n) => {
    const { brand, id, user } = record(n)
    const channel = channelOf(n)
    const parts = { id, userId: user, activityId: '4711', actionId: '34', triggerHash: '9f86d081' }
    return `${brand}/${channel} ${messageKey(channel, parts)}`
  }).sort()
}

async function readLanes(store: string): Promise<readonly string[]> {
  const rows = await query(store, 'select lane, key from items')
  return rows.map(({ lane, key }) => `${lane} ${key}`).sort()
}

async function countItems(store: string): Promise<number> {
  const [row] = await query(store, 'select count(*) as n from items')
  return Number(row?.n)
}

async function readConsumer(url: string): Promise<{ readonly state?: string; readonly lag?: number }> {
  const { consumers } = await admin<{ consumers: object[] }>(url, '/admin/consumers')
  return consumers[0] ?? {}
}

/** Watches the resident memory of processes. stop() returns the largest value of any of them. */
function watchMemory(pids: () => readonly number[]): { stop(): number } {
  let peak = 0
  const timer = setInterval(() => {
    for (const pid of pids()) {
      try {
        peak = Math.max(peak, memoryOf(pid) || 0)
      } catch {
        // The process was killed.
      }
    }
  }, 100).unref()
  return {
    stop() {
      clearInterval(timer)
      return peak
    },
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
