// Several platforms on one PostgreSQL divide many lanes: when a process joins, is killed, or stops, and while they are idle.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { postgresStore } from '../../bench/harness/stores.ts'
import { configOf } from '../../src/base/store/postgres-address.ts'
import { withClient } from '../../src/base/store/postgres-client.ts'
import { freePort } from '../../test/support/free-port.ts'
import { admin, enqueue, waitUntilSettled } from '../harness/http.ts'
import { cpuMs, type Process, startProcess } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { type LanePlan, planVariable } from '../plans.ts'

const sizes = {
  small: { brands: 20, idleMs: 2_000 },
  full: { brands: 1_000, idleMs: 30_000 },
}
const bounds = { evenMs: 5_000, takenOverMs: 1_000, statementsPerSecond: 50, databaseCores: 0.01 }
/** The statements of a process that has nothing to do. None is for one lane. */
const idleStatements = [
  'still_held',
  'due_lanes',
  'lane_processes',
  'alive_owners',
  'evict_stalled_owner',
  'open_erasures',
  'later_erasures',
]

export const division: Proof = {
  name: 'division',
  claims:
    'platforms on one PostgreSQL divide the lanes evenly within 5 s of a join, a death or a stop; nothing is lost or sent twice except by a killed process; idle processes cost hardly anything',
  needs: ['postgres'],
  boundSeconds: { small: 120, full: 600 },
  async run(options, signal) {
    await using store = await postgresStore()
    return await withClient(configOf(store.url), (database) => proveDivision(options, store.url, database, signal))
  },
}

interface Member {
  readonly process: Process
  readonly url: string
}

async function proveDivision(
  { folder, small, print }: ProofOptions,
  store: string,
  database: pg.Client,
  signal: AbortSignal,
): Promise<Figures> {
  const { brands, idleMs } = small ? sizes.small : sizes.full
  const lanes = 2 * brands
  const witness = join(folder, 'witness')
  const tolerance = small ? 0.2 : 0.1
  let sent = 0

  const start = async (): Promise<Member> => {
    const port = await freePort()
    const plan: LanePlan = { store, port, brands, witness }
    const process = startProcess(new URL('../processes/lane-platform.ts', import.meta.url), {
      env: { [planVariable]: JSON.stringify(plan) },
    })
    return { process, url: `http://127.0.0.1:${port}` }
  }
  /** Resolves when this number of processes owns all lanes, evenly. @returns milliseconds since `began` */
  const evenAfter = async (processes: number, began: number): Promise<number> => {
    for (;;) {
      signal.throwIfAborted()
      const shares = await sharesOf(database)
      const mean = lanes / processes
      const even = shares.every((size) => Math.abs(size - mean) <= tolerance * mean)
      if (shares.length === processes && even && sum(shares) === lanes) return performance.now() - began
      assert.ok(performance.now() - began < 60_000, `after 60 s the shares are ${shares}`)
      await sleep(20)
    }
  }
  const joined = async (count: number): Promise<void> => {
    for (;;) {
      signal.throwIfAborted()
      const { rows } = await database.query('select count(*)::int as n from lane_processes')
      if (rows[0]?.n === count) return
      await sleep(20)
    }
  }
  /** Sends a message to each lane of a channel. */
  const send = async (to: Member, channel: 'push' | 'site'): Promise<void> => {
    const lines = Array.from({ length: brands }, (_, i) => element(i + 1, ++sent))
    await enqueue(to.url, channel, lines.join(''))
  }

  const first = await start()
  await first.process.ready
  const aloneMs = await evenAfter(1, performance.now())
  print(`one process owns ${lanes} lanes ${aloneMs.toFixed()} ms after it is ready`)
  const second = await start()
  await joined(2)
  const joinMs = [await evenAfter(2, performance.now())]
  const third = await start()
  await joined(3)
  joinMs.push(await evenAfter(3, performance.now()))
  print(
    `three processes: even ${joinMs.map((ms) => ms.toFixed()).join(' and ')} ms after a join; ${await sharesOf(database)}`,
  )

  // While messages arrive, a fourth process joins, one is killed, one stops.
  await Promise.all([second, third].map(({ process }) => process.ready))
  let sending = true
  const load = (async () => {
    for (let i = 0; sending; i++) {
      await send(first, i % 2 ? 'push' : 'site')
      await sleep(1_000)
    }
  })()
  const fourth = await start()
  await joined(4)
  const loadedJoinMs = await evenAfter(4, performance.now())
  await fourth.process.ready
  third.process.signal('SIGKILL')
  const killedAt = performance.now()
  await third.process.ended
  const loadedDeathMs = await evenAfter(3, killedAt)
  second.process.signal('SIGTERM')
  const loadedStopMs = await evenAfter(2, performance.now())
  assert.deepEqual(await second.process.ended, { code: 0, signal: null }, second.process.errorOutput())
  sending = false
  await load
  await waitUntilSettled(first.url, signal)
  const summary = await admin<{ successful: number }>(first.url, '/admin/summary')
  assert.equal(summary.successful, sent)
  const repeated = checkWitness(witness, sent, third.process.pid)
  print(
    `with messages arriving: even ${loadedJoinMs.toFixed()} ms after a join, ${loadedDeathMs.toFixed()} ms after a SIGKILL, ${loadedStopMs.toFixed()} ms after a SIGTERM; ${sent} messages, ${repeated} sent again`,
  )

  const more = [await start(), await start()]
  await joined(4)
  await evenAfter(4, performance.now())
  await Promise.all(more.map(({ process }) => process.ready))
  const members = [first, fourth, ...more]
  // The processes that have just joined create partitions and take over lanes.
  while (!(await onlyIdleStatements(members))) signal.throwIfAborted()
  const idle = await measureIdle(database, members, idleMs)
  print(JSON.stringify(idle))

  first.process.signal('SIGKILL')
  const diedAt = performance.now()
  const [deadMs] = await Promise.all([evenAfter(3, diedAt), first.process.ended])
  print(`idle: even ${deadMs.toFixed()} ms after a SIGKILL`)

  assert.ok(idle.statements_per_second <= bounds.statementsPerSecond, JSON.stringify(idle))
  // In npm test, other tests run at the same time.
  if (!small) {
    for (const ms of [...joinMs, loadedJoinMs, loadedDeathMs, loadedStopMs, deadMs])
      assert.ok(ms <= bounds.evenMs, `the lanes were even after ${ms} ms`)
    assert.ok(deadMs <= bounds.takenOverMs, `the lanes of a killed process were taken over after ${deadMs} ms`)
    assert.ok(idle.database_cores <= bounds.databaseCores, JSON.stringify(idle))
  }
  return {
    lanes,
    messages: sent,
    sent_again_after_a_kill: repeated,
    even_after_join_ms: Math.round(Math.max(...joinMs)),
    even_after_death_ms: Math.round(deadMs),
    with_messages_join_death_stop_ms: [loadedJoinMs, loadedDeathMs, loadedStopMs].map((ms) => ms.toFixed()).join(' '),
    ...idle,
  }
}

async function sharesOf(database: pg.Client): Promise<number[]> {
  const { rows } = await database.query('select count(*)::int as lanes from lane_owners group by owner order by 1')
  return rows.map(({ lanes }) => Number(lanes))
}

function element(brand: number, id: number): string {
  const activity = `{"id":${id},"brand_id":${brand},"user_id":"${id % 1_000}","activity_id":7,"action_id":9,"trigger_hash":"h"}`
  return `{"activity":${activity},"title":"Record ${id}"}\n`
}

/** @returns the number of messages that the killed process had sent and another process sent again */
function checkWitness(file: string, sent: number, killed: number): number {
  const senders = new Map<string, number[]>()
  for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
    const [message = '', pid] = line.split(' ')
    senders.set(message, [...(senders.get(message) ?? []), Number(pid)])
  }
  assert.equal(senders.size, sent, 'messages that were sent')
  const repeated = [...senders].filter(([, pids]) => pids.length > 1)
  for (const [message, pids] of repeated)
    assert.ok(pids.length === 2 && pids[0] === killed, `message ${message} was sent by ${pids}, killed: ${killed}`)
  return repeated.length
}

type Counts = Readonly<Record<string, number>>
/** Returns how many statements of each name each process has sent. */
async function countsOf(members: readonly Member[]): Promise<Counts[]> {
  const replies = await Promise.all(members.map(({ process }) => process.ask()))
  return replies.map((reply) => (reply as { statements: Counts }).statements)
}

/** Whether the processes sent no other statements than `idleStatements` during a second. */
async function onlyIdleStatements(members: readonly Member[]): Promise<boolean> {
  const before = await countsOf(members)
  await sleep(1_000)
  const after = await countsOf(members)
  return after.every((counts, i) =>
    Object.keys(counts).every((name) => counts[name] === before[i]?.[name] || idleStatements.includes(name)),
  )
}

/** Measures the work of processes that have nothing to do. The processor time of the database is that of all its Bellwire sessions. */
async function measureIdle(database: pg.Client, members: readonly Member[], idleMs: number) {
  const read = async () => {
    const statements = sum((await countsOf(members)).map((counts) => sum(Object.values(counts))))
    const { rows } = await database.query(`select pid from pg_stat_activity where application_name like 'bellwire %'`)
    return {
      statements,
      database: sum(rows.map(({ pid }) => cpuMs(Number(pid)))),
      processes: sum(members.map(({ process }) => cpuMs(process.pid))),
    }
  }
  const [before, began] = [await read(), performance.now()]
  await sleep(idleMs)
  const [after, ms] = [await read(), performance.now() - began]
  const rate = (part: keyof typeof before): number => (after[part] - before[part]) / ms
  return {
    statements_per_second: Math.round(rate('statements') * 10_000) / 10,
    database_cores: Math.round(rate('database') * 10_000) / 10_000,
    process_cores: Math.round(rate('processes') * 10_000) / 10_000,
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
