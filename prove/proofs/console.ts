// The console is cheap: its pages are quick on either side with ten million messages, and many viewers slow the sending of messages as
// little as one.

import assert from 'node:assert/strict'
import { get as request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { postgresStore, type Store, sqliteStore } from '../../bench/harness/stores.ts'
import { listen } from '../../src/base/http/http.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import {
  measurePages,
  operatorPages,
  platformPages,
  type Slowest,
  signIn,
  viewerKeys,
} from '../harness/console-pages.ts'
import { admin, enqueue } from '../harness/http.ts'
import { quantile } from '../harness/latency.ts'
import { fillOperator, fillPlatform } from '../harness/many-messages.ts'
import type { Proof, ProofOptions } from '../harness/proof.ts'
import { adminKey } from '../plans.ts'

const brands = Array.from({ length: 10 }, (_, i) => String(i + 1))
const viewers = 50
/** In small size, other statements of the platform fall into the few seconds. Without shared answers, the viewers cause 200. */
const bounds = { pageMs: 200, statementsASecond: { small: 5, full: 1.2 }, sendRate: 0.97 } as const
const scopes = ['enqueue', 'counts', 'read', 'decide', 'attributes', 'audit'] as const

const consoleProof = (engine: string, open: () => Promise<Store>, needs: Pick<Proof, 'needs'> = {}): Proof => ({
  name: `console-${engine.toLowerCase()}`,
  claims: `with 10,000,000 messages on ${engine}, each page of the console takes at most ${bounds.pageMs} ms (p95) on either side; ${viewers} viewers cost one statement a second, as one does, and the send rate stays at ${bounds.sendRate}`,
  ...needs,
  boundSeconds: { small: 120, full: 3_600 },
  async run(options, signal) {
    const misses: string[] = []
    const judged: Judged = { ...options, miss: (what) => misses.push(what) }
    await using ofOperator = await open()
    await using ofPlatform = await open()
    const operator = await measureOperator(ofOperator, judged, signal)
    const figures = { ...operator, ...(await measurePlatform(ofPlatform, judged, signal)) }
    options.print(JSON.stringify(figures))
    assert.deepEqual(misses, [], `missed: ${misses.join('; ')}`)
    return figures
  },
})

export const consoleProofs: readonly Proof[] = [
  consoleProof('SQLite', sqliteStore),
  consoleProof('PostgreSQL', postgresStore, { needs: ['postgres'] }),
]

interface Judged extends ProofOptions {
  /** A bound does not hold. The other ones are still measured. */
  readonly miss: (what: string) => void
}

const sizeOf = (small: boolean): number => (small ? 20_000 : 10_000_000)

/** 64 people look at each page at least twice. */
const roundsOf = (small: boolean): number => (small ? 3 : 128)

async function measureOperator(store: Store, { small, print, miss }: Judged, signal: AbortSignal) {
  const size = sizeOf(small)
  const at = await fillOperator(store.url, size, signal)
  print(`the operator has ${size.toLocaleString('en')} messages`)
  const operator = createOperator({
    store: store.url,
    keys: [{ name: 'proof', key: 'the-key-of-the-platform', brands }],
    adminKeys: viewerKeys,
    suppression: 'none',
    push: accepting,
    site: 'inbox',
  })
  await operator.start()
  const { url, close } = await listen('operator', operator.admin.handler)
  try {
    const slowest = await measurePages(url, operatorPages(at), { size, rounds: roundsOf(small), print })
    if (!small && slowest.p95 > bounds.pageMs) miss(phraseMiss('operator', slowest))
    return { operator_slowest_page_p95_ms: rounded(slowest.p95) }
  } finally {
    await close(0)
    await operator.stop(1_000)
  }
}

const phraseMiss = (side: string, { name, p95 }: Slowest): string =>
  `the page ${name} of the ${side} takes ${p95.toFixed(1)} ms (p95)`

async function measurePlatform(store: Store, { small, print, miss }: Judged, signal: AbortSignal) {
  const size = sizeOf(small)
  await fillPlatform(store.url, size, signal)
  print(`the platform has ${size.toLocaleString('en')} messages`)
  const statements = countStatements()
  const platform = createPlatform({
    store: store.url,
    keys: [{ name: 'proof', key: adminKey, scopes }, ...viewerKeys],
    lanes: brands.flatMap((brand) =>
      (['push', 'site'] as const).map((channel) => ({ brand, channel, mode: 'batch' as const, provider: accepting })),
    ),
  })
  await platform.start()
  const { url, close } = await listen('platform', platform.admin.handler)
  try {
    const cookie = await signIn(url, adminKey)
    const figures: Record<string, number> = { messages: size, viewers }
    const slowest = await measurePages(url, platformPages, { size, rounds: roundsOf(small), print })
    figures.platform_slowest_page_p95_ms = rounded(slowest.p95)

    const seconds = small ? 2 : 20
    const cost = async (count: number) => {
      const stop = await view(url, cookie, count)
      const [cpu, before, began] = [process.cpuUsage(), statements.sum(), performance.now()]
      await wait(seconds * 1_000)
      const passed = (performance.now() - began) / 1_000
      const { user, system } = process.cpuUsage(cpu)
      const sent = statements.sum() - before
      stop()
      return { cpuMs: (user + system) / 1_000 / passed, statements: sent / passed }
    }
    // At first, the start of the platform has further statements.
    const [many, one, nobody] = [await cost(viewers), await cost(1), await cost(0)]
    figures.cpu_ms_a_second_of_viewers = rounded(many.cpuMs - nobody.cpuMs)
    if (store.url.startsWith('postgres')) {
      figures.statements_a_second_of_one = rounded(one.statements - nobody.statements)
      figures.statements_a_second_of_viewers = rounded(many.statements - nobody.statements)
      const more = many.statements - nobody.statements
      if (more > bounds.statementsASecond[small ? 'small' : 'full'])
        miss(`${viewers} viewers cause ${rounded(more)} statements a second`)
    }

    // Many short pairs in alternating order: a checkpoint or a vacuum of PostgreSQL takes longer than a part of a pair.
    const rates: number[] = []
    for (let pair = 0; pair < (small ? 1 : 40); pair++) {
      const seconds = { alone: 0, viewed: 0 }
      for (const part of pair % 2 === 0 ? (['alone', 'viewed'] as const) : (['viewed', 'alone'] as const)) {
        const stop = part === 'viewed' ? await view(url, cookie, viewers) : () => {}
        seconds[part] = await sendAll(url, small ? 1_000 : 50_000, signal)
        stop()
      }
      rates.push(seconds.alone / seconds.viewed)
    }
    figures.send_rate_with_viewers = rounded(quantile(rates, 0.5))
    if (!small) {
      if (slowest.p95 > bounds.pageMs) miss(phraseMiss('platform', slowest))
      if (quantile(rates, 0.5) < bounds.sendRate) miss(`the send rates with viewers: ${rates.map(rounded).join(', ')}`)
    }
    return figures
  } finally {
    await close(0)
    await platform.stop(1_000)
  }
}

const accepting: Provider = {
  name: 'accepting',
  max: 1_000,
  send: async (messages) => messages.map(({ ref }) => ({ category: 'successful', ref, rule: 'accepted' })),
}

/** Counts the statements that this process sends to PostgreSQL. */
function countStatements(): { readonly sum: () => number } {
  let count = 0
  const { query: send } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    count++
    return (send as (...args: unknown[]) => unknown).apply(this, args)
  } as typeof send
  return { sum: () => count }
}

/** Opens the live part of the overview. @returns a function that closes it again */
async function view(url: string, cookie: string, count: number): Promise<() => void> {
  const open = Array.from({ length: count }, async () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const asked = request(
      `${url}/console`,
      { headers: { cookie, accept: 'text/event-stream' }, agent: false },
      (response) => {
        response.once('data', () => resolve()).resume()
        response.on('error', () => {})
      },
    )
    asked.on('error', reject)
    await promise
    return asked
  })
  const all = await Promise.all(open)
  return () => {
    for (const each of all) each.on('error', () => {}).destroy()
  }
}

let sent = 0

/** Enqueues messages in a paused lane, and resolves with the seconds that the lane takes to send them. */
async function sendAll(url: string, count: number, signal: AbortSignal): Promise<number> {
  await admin(url, '/admin/lanes/pause', { lane: '1/site', reason: 'proof' })
  for (let i = 0; i < count; i += 1_000) {
    signal.throwIfAborted()
    const lines = Array.from(
      { length: 1_000 },
      () => `{"activity":{"id":${++sent},"brand_id":1,"user_id":"v${sent % 1_000}","activity_id":8}}\n`,
    )
    await enqueue(url, 'site', lines.join(''))
  }
  const began = performance.now()
  await admin(url, '/admin/lanes/resume', { lane: '1/site' })
  for (;;) {
    signal.throwIfAborted()
    const { lanes } = (await admin(url, '/admin/lanes')) as { lanes: { name: string; waiting: number }[] }
    if (lanes.find(({ name }) => name === '1/site')?.waiting === 0) return (performance.now() - began) / 1_000
    await wait(50)
  }
}

const rounded = (value: number): number => Math.round(value * 100) / 100
