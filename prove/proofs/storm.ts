// Eight lanes of one platform of three processes. Six have a sick operator, and one process after another is killed or stopped.
// The operators are one real operator, behind a proxy for each lane that plays the sickness.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import { freePort } from '../../test/support/free-port.ts'
import {
  allFatal,
  dead,
  type Fault,
  type FaultProxy,
  failing,
  poisonedBy,
  slow,
  startFaultProxy,
  wrongKey,
} from '../harness/fault-proxy.ts'
import { admin, enqueue, type PlatformSummary, waitUntilSettled } from '../harness/http.ts'
import { type Process, startProcess } from '../harness/process.ts'
import type { Proof, ProofOptions } from '../harness/proof.ts'
import { readWitnessReport } from '../harness/witness-report.ts'
import { type OperatorPlan, planVariable, type StormPlan, witnessVariable } from '../plans.ts'

interface Size {
  /**
   * Messages of each healthy and each sick lane. Half of the healthy lanes' messages take longer than the first attempts of the sick
   * lanes.
   */
  readonly healthy: number
  readonly sick: number
  readonly sickMs: number
  readonly slowMs: number
  /** The pause before the next process is ended. */
  readonly killEveryMs: number
}
const full: Size = { healthy: 250_000, sick: 10_000, sickMs: 60_000, slowMs: 5_000, killEveryMs: 4_000 }
const small: Size = { healthy: 600, sick: 100, sickMs: 4_000, slowMs: 500, killEveryMs: 2_000 }

const poison = 'poison'
const poisonMessages = 20
const mostInRequest = 50_000
const healthyBrands = ['1', '2']
const sicknesses: Readonly<Record<string, (size: Size) => Fault>> = {
  '3': () => dead,
  '4': ({ slowMs }) => slow(slowMs),
  '5': () => failing(0.3),
  '6': () => poisonedBy(poison),
  '7': () => wrongKey,
  '8': () => allFatal,
}
const brands = [...healthyBrands, ...Object.keys(sicknesses)]
const keys = Object.fromEntries(brands.map((brand) => [brand, `operator-key-of-brand-${brand}-0123456789`]))
/** Only a poison message reaches the last attempt: each other message is delivered long before. */
const retry = { firstMs: 50, mostMs: 1_000, attempts: 6 }
const bounds = { rate: 0.9, recoveryMs: 5_000 }

export const storm: Proof = {
  name: 'storm',
  claims:
    'six of eight operators are sick and processes of the platform are killed: every message is delivered once, only the poison messages fail, the platform keeps its rate, and all lanes recover at once',
  needs: ['postgres'],
  boundSeconds: { small: 240, full: 1_200 },
  async run(options, signal) {
    const size = options.small ? small : full
    // In npm test, other tests run at the same time: rates are not compared.
    const calm = options.small ? undefined : await drain({ ...options, size, sick: false }, signal)
    const stormy = await drain({ ...options, size, sick: true }, signal)
    options.print(
      `before a process was ended: ${stormy.perSecond} messages a second, ${stormy.healthyPerSecond} of them of the healthy lanes${calm ? `; ${calm.perSecond} without the sick lanes` : ''}; first delivery after the recovery: ${stormy.recoveryMs} ms`,
    )
    if (calm) {
      const rate = stormy.perSecond / calm.perSecond
      assert.ok(rate >= bounds.rate, `the rate fell to ${rate.toFixed(2)}`)
      for (const ms of stormy.recoveryMs)
        assert.ok(ms <= bounds.recoveryMs, `a lane delivered its first message ${ms} ms after the recovery`)
    }
    return {
      messages: stormy.messages,
      ended_processes: stormy.ended,
      requests_of_sick_lanes: stormy.sickRequests,
      per_second: stormy.perSecond,
      healthy_per_second: stormy.healthyPerSecond,
      ...(calm && { per_second_calm: calm.perSecond }),
      slowest_recovery_ms: Math.max(...stormy.recoveryMs),
      drained_after_recovery_seconds: stormy.drainedSeconds,
    }
  },
}

interface DrainOptions extends ProofOptions {
  readonly size: Size
  /** Whether the sick lanes have messages. */
  readonly sick: boolean
}

interface Drained {
  readonly messages: number
  readonly ended: number
  /**
   * Delivered messages of all lanes, until the first process is ended: the cost of its start would be compared too. Lanes that are
   * partly sick deliver messages too, with the same processors: they may take time from the healthy lanes, but failed calls may not.
   */
  readonly perSecond: number
  readonly healthyPerSecond: number
  readonly sickRequests: number
  /** Per lane that could not deliver: from the recovery to the first delivered message. */
  readonly recoveryMs: readonly number[]
  readonly drainedSeconds: number
}

async function drain({ folder, print, size, sick }: DrainOptions, signal: AbortSignal): Promise<Drained> {
  await using operatorStore = await postgresStore()
  await using platformStore = await postgresStore()
  const file = join(folder, sick ? 'storm.ndjson' : 'calm.ndjson')
  const operator = await startOperator(operatorStore.url, file)
  const proxies = new Map<string, FaultProxy>()
  for (const brand of brands) proxies.set(brand, await startFaultProxy(operator))
  const proxyOf = (brand: string): FaultProxy => proxies.get(brand) as FaultProxy
  const platform = await startPlatform(platformStore.url, proxies, signal)
  try {
    for (const [brand, sicken] of Object.entries(sicknesses)) proxyOf(brand).fault = sicken(size)
    const filled = sick ? brands : healthyBrands
    // The lanes are paused meanwhile: the process that stores the messages sends more slowly, and any of the lanes may be its own.
    for (const brand of filled) await admin(platform.url, '/admin/lanes/pause', { brand, reason: 'fill' })
    const messages = await Promise.all(filled.map((brand) => fill(platform.url, brand, size)))
    for (const brand of filled) await admin(platform.url, '/admin/lanes/resume', { brand })
    const began = Date.now()
    const haveDelivered = (count: number): boolean => healthyBrands.every((brand) => delivered(proxyOf(brand)) >= count)
    await waitFor(() => haveDelivered(size.healthy / 2), signal)
    const rates = ratesOf(healthyBrands.map(proxyOf), [...proxies.values()])
    const ending = endInTurn(platform, size.killEveryMs)
    await waitFor(() => haveDelivered(size.healthy) && (!sick || Date.now() - began >= size.sickMs), signal)
    const sickRequests = Object.keys(sicknesses).reduce((sum, brand) => sum + proxyOf(brand).requests, 0)
    const recoveredAt = Date.now()
    const recovering = ['3', '7', '8'].map(proxyOf)
    for (const [brand, proxy] of proxies) if (brand !== '6') proxy.fault = undefined
    if (sick) await waitFor(() => recovering.every(({ deliveries }) => deliveries.length > 0), signal)
    const ended = await ending.stop()
    // A message is found guilty only while others of its lane are delivered (row 53).
    const more = sick ? await feedUntilSettled(platform.url, '6', size.sick, signal) : 0
    const summary = await waitUntilSettled(platform.url, signal)
    const drainedSeconds = (Date.now() - recoveredAt) / 1_000

    const total = messages.reduce((sum, each) => sum + each, 0) + more
    const expectedFailed = sick ? poisonMessages : 0
    assert.deepEqual(summary, { ...summary, successful: total - expectedFailed, failed: expectedFailed })
    const report = await readWitnessReport(file)
    assert.equal(report.messages.size, total - expectedFailed, 'messages that the witness has')
    assert.equal(report.secondCalls, 0, 'messages that the witness has twice')
    print(`${total} messages, ${ended} processes ended, settled ${drainedSeconds} s after the recovery`)
    return {
      messages: total,
      ended,
      ...rates,
      sickRequests,
      recoveryMs: sick ? recovering.map(({ deliveries }) => (deliveries[0]?.at ?? 0) - recoveredAt) : [],
      drainedSeconds,
    }
  } finally {
    await platform.stop()
    await Promise.all([...proxies.values()].map((proxy) => proxy.close()))
  }
}

/** @returns the URL of the operator, whose push provider is the witness */
async function startOperator(store: string, file: string): Promise<string> {
  const witness = startProcess(new URL('../processes/witness.ts', import.meta.url), { args: [file] })
  const { port: witnessPort } = (await witness.ready) as { port: number }
  const port = await freePort()
  const plan: OperatorPlan = { store, port, keys }
  const operator = startProcess(new URL('../processes/operator.ts', import.meta.url), {
    preload: new URL('../processes/operator-strikes.ts', import.meta.url),
    env: { [planVariable]: JSON.stringify(plan), [witnessVariable]: String(witnessPort) },
  })
  await operator.ready
  return `http://127.0.0.1:${port}`
}

interface Platform {
  /** The process that is never ended, so that the proof can ask it. */
  readonly url: string
  /** Ends a process and starts it again. The processes but the first take turns. */
  endNext(name: NodeJS.Signals): Promise<void>
  stop(): Promise<void>
}

async function startPlatform(
  store: string,
  proxies: ReadonlyMap<string, FaultProxy>,
  signal: AbortSignal,
): Promise<Platform> {
  const operators = Object.fromEntries(
    [...proxies].map(([brand, { url }]) => [brand, { url, apiKey: keys[brand] as string }]),
  )
  const ports = [await freePort(), await freePort(), await freePort()]
  const start = async (port: number): Promise<Process> => {
    signal.throwIfAborted()
    const plan: StormPlan = { store, port, operators, max: 200, retry }
    const process = startProcess(new URL('../processes/storm-platform.ts', import.meta.url), {
      env: { [planVariable]: JSON.stringify(plan) },
    })
    await process.ready
    return process
  }
  const running = await Promise.all(ports.map(start))
  let turn = 0
  return {
    url: `http://127.0.0.1:${ports[0]}`,
    async endNext(name) {
      const which = 1 + (turn++ % (ports.length - 1))
      const process = running[which] as Process
      process.signal(name)
      await process.ended
      running[which] = await start(ports[which] as number)
    },
    async stop() {
      for (const process of running) process.signal('SIGKILL')
      await Promise.all(running.map(({ ended }) => ended))
    },
  }
}

/** Ends processes, by SIGKILL and SIGTERM in turn, until it is stopped. */
function endInTurn(platform: Platform, everyMs: number): { stop(): Promise<number> } {
  let stopped = false
  let ended = 0
  const work = (async () => {
    while (!stopped) {
      await platform.endNext(ended++ % 2 ? 'SIGTERM' : 'SIGKILL')
      await sleep(everyMs)
    }
  })()
  work.catch(() => {})
  return {
    async stop() {
      stopped = true
      await work
      return ended
    },
  }
}

/** @returns the number of messages */
async function fill(platform: string, brand: string, size: Size): Promise<number> {
  const count = healthyBrands.includes(brand) ? size.healthy : size.sick
  const every = Math.floor(size.sick / poisonMessages)
  for (let from = 0; from < count; from += mostInRequest) {
    const length = Math.min(mostInRequest, count - from)
    const lines = Array.from({ length }, (_, i) => {
      const n = from + i
      return element(brand, n, brand === '6' && n % every === 0 ? poison : `Record ${n}`)
    })
    const { accepted } = await enqueue(platform, 'push', lines.join(''))
    assert.equal(accepted, length)
  }
  return count
}

/** Enqueues a message from time to time until no message waits. @returns the number of messages */
async function feedUntilSettled(platform: string, brand: string, from: number, signal: AbortSignal): Promise<number> {
  for (let count = 0; ; count++) {
    signal.throwIfAborted()
    const { waiting } = await admin<PlatformSummary>(platform, '/admin/summary')
    if (waiting === 0) return count
    await enqueue(platform, 'push', element(brand, from + count, `Record ${from + count}`))
    await sleep(100)
  }
}

function element(brand: string, n: number, title: string): string {
  const activity = `{"id":${n + 1},"brand_id":${brand},"user_id":"${n % 1_000}","activity_id":7,"action_id":9,"trigger_hash":"h"}`
  return `{"activity":${activity},"title":"${title}"}\n`
}

/** A message whose answer a killed process did not get counts twice. */
const delivered = ({ deliveries }: FaultProxy): number => deliveries.reduce((sum, { messages }) => sum + messages, 0)

/** The rates of the healthy lanes and of all lanes, from the first delivery of a healthy lane to the last one so far. */
function ratesOf(
  healthy: readonly FaultProxy[],
  all: readonly FaultProxy[],
): Pick<Drained, 'perSecond' | 'healthyPerSecond'> {
  const times = healthy.flatMap(({ deliveries }) => deliveries.map(({ at }) => at))
  const [from, to] = [Math.min(...times), Math.max(...times)]
  const rateOf = (proxies: readonly FaultProxy[]): number => {
    const during = proxies.flatMap(({ deliveries }) => deliveries).filter(({ at }) => at >= from && at <= to)
    return Math.round(during.reduce((sum, { messages }) => sum + messages, 0) / ((to - from) / 1_000))
  }
  return { perSecond: rateOf(all), healthyPerSecond: rateOf(healthy) }
}

async function waitFor(condition: () => boolean, signal: AbortSignal): Promise<void> {
  while (!condition()) {
    signal.throwIfAborted()
    await sleep(20)
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
