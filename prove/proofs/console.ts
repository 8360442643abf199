// The console is cheap: its pages are quick in a store with ten million messages, and many viewers slow the sending of messages as
// little as one.

import assert from 'node:assert/strict'
import { get as request } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { postgresStore, type Store, sqliteStore } from '../../bench/harness/stores.ts'
import { listen } from '../../src/base/http/http.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import { platformStores } from '../../src/sides/platform/stores.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import { query } from '../../test/support/services/postgres.ts'
import { admin, enqueue } from '../harness/http.ts'
import { quantile } from '../harness/latency.ts'
import type { Proof, ProofOptions } from '../harness/proof.ts'
import { adminKey } from '../plans.ts'

const lane = '1/push'
const brands = Array.from({ length: 10 }, (_, i) => String(i + 1))
const viewers = 50
/** Each user has ten messages, spread over the whole time. One message of a hundred failed. */
const messagesPerUser = 10
/** In small size, other statements of the platform fall into the few seconds. Without shared answers, the viewers cause 200. */
const bounds = { pageMs: 200, statementsASecond: { small: 5, full: 1.2 }, sendRate: 0.97 } as const

const pages = (size: number): Readonly<Record<string, string>> => ({
  overview: '',
  lanes: '/lanes',
  lane: `/lane?name=${lane}`,
  'search by user': '/messages?find=u17',
  'search by activity.id': `/messages?find=${Math.floor(size / 2)}`,
  message: `/message?seq=${Math.floor(size / 2)}`,
  'failed message': '/message?seq=100',
  'failed actions': '/failed',
  'failed actions of a lane': `/failed?lane=${lane}&activity=7&reason=rejected`,
  'failed actions by a part of the error': `/failed?lane=${lane}&error=nowhere`,
  person: '/person?brand=1&user=u17',
  devices: '/devices?brand=1&user=u17',
  'push services': '/push',
  conversions: '/conversions',
  reconciliation: '/reconciliation',
  audit: '/audit',
})

const consoleProof = (engine: string, open: () => Promise<Store>, needs: Pick<Proof, 'needs'> = {}): Proof => ({
  name: `console-${engine.toLowerCase()}`,
  claims: `in a platform with 10,000,000 messages on ${engine}, each page of the console takes at most ${bounds.pageMs} ms (p95); ${viewers} viewers cost as many statements as one, and the send rate stays at ${bounds.sendRate}`,
  ...needs,
  boundSeconds: { small: 120, full: 3_600 },
  async run(options, signal) {
    const store = await open()
    try {
      return await measure(store, options, signal)
    } finally {
      await store.remove()
    }
  },
})

export const consoleProofs: readonly Proof[] = [
  consoleProof('SQLite', sqliteStore),
  consoleProof('PostgreSQL', postgresStore, { needs: ['postgres'] }),
]

async function measure(store: Store, { small, print }: ProofOptions, signal: AbortSignal) {
  const size = small ? 20_000 : 10_000_000
  await fill(store.url, size, signal)
  print(`${size.toLocaleString('en')} messages are stored`)
  const statements = countStatements()
  const platform = createPlatform({
    store: store.url,
    keys: [{ name: 'proof', key: adminKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes', 'audit'] }],
    lanes: brands.flatMap((brand) =>
      (['push', 'site'] as const).map((channel) => ({ brand, channel, mode: 'batch' as const, provider: accepting })),
    ),
  })
  await platform.start()
  const { url, close } = await listen('platform', platform.admin.handler)
  try {
    const cookie = await signIn(url)
    const figures: Record<string, number> = { messages: size, viewers }
    const slowest = await measurePages(url, cookie, { size, rounds: small ? 3 : 100, print })
    figures.slowest_page_p95_ms = slowest

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
      assert.ok(
        more <= bounds.statementsASecond[small ? 'small' : 'full'],
        `${viewers} viewers cause ${more} statements a second`,
      )
    }

    const rates: number[] = []
    for (let pair = 0; pair < (small ? 1 : 10); pair++) {
      const count = small ? 1_000 : 200_000
      const alone = await sendAll(url, count, signal)
      const stop = await view(url, cookie, viewers)
      const viewed = await sendAll(url, count, signal)
      stop()
      rates.push(alone / viewed)
    }
    figures.send_rate_with_viewers = rounded(quantile(rates, 0.5))
    print(JSON.stringify(figures))
    if (!small) {
      assert.ok(slowest <= bounds.pageMs, `the slowest page: p95 ${slowest} ms`)
      assert.ok(quantile(rates, 0.5) >= bounds.sendRate, `the send rate with viewers: ${rates.join(', ')}`)
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

/** Writes the rows that the platform would have after it sent these messages. */
async function fill(url: string, size: number, signal: AbortSignal): Promise<void> {
  const [configured] = platformStores({ store: url })
  await (await openDatabase(url, { migrations: configured?.migrations ?? [] })).close()
  const chunk = 100_000
  const run = await runnerOf(url)
  const isPostgres = url.startsWith('postgres')
  const at = Date.now() - size
  const key = `'["push","' || n || '","u' || ((n * 7919) % ${size / messagesPerUser} + 1) || '","7","9","h"]'`
  const text = `'{"activity":{"id":' || n || ',"brand_id":1,"user_id":"u' || ((n * 7919) % ${size / messagesPerUser} + 1) || '","activity_id":7,"action_id":9,"trigger_hash":"h"},"title":"The offer of this week","body":"It ends on Sunday: come and see"}'`
  for (let from = 1; from <= size; from += chunk) {
    signal.throwIfAborted()
    const to = Math.min(size, from + chunk - 1)
    const series = (step: number, first: number): string =>
      isPostgres
        ? `(select n from generate_series(${first}::bigint, ${to}, ${step}) n) s`
        : `(with recursive s(n) as (values(${first}) union all select n + ${step} from s where n + ${step} <= ${to}) select n from s) s`
    await run(`insert into items (lane, key, text, enqueued_at, token, user_id)
      select '${lane}', ${key}, ${text}, ${at} + n, 0, 'u' || ((n * 7919) % ${size / messagesPerUser} + 1) from ${series(1, from)}`)
    const done = '{"attempt":1,"rule":"accepted"}'
    const failed = '{"attempt":1,"rule":"§7.1 422","reason":"rejected","error":"the user has no inbox"}'
    await run(`insert into settled (lane, first, last, state, at, detail)
      select '${lane}', n, n + 98, 1, ${at} + n, '${done}' from ${series(100, from)}`)
    await run(`insert into settled (lane, first, last, state, at, detail)
      select '${lane}', n, n, 2, ${at} + n, '${failed}' from ${series(100, from + 99)}`)
    await run(`insert into failed (seq, lane, key, activity, action, user_id, reason, error, rule, attempts, at, state)
      select n, '${lane}', ${key}, '7', '9', 'u' || ((n * 7919) % ${size / messagesPerUser} + 1), 'rejected', 'the user has no inbox', '§7.1 422', 1, ${at} + n, 0
      from ${series(100, from + 99)}`)
  }
  await run('analyze')
}

async function runnerOf(url: string): Promise<(text: string) => Promise<unknown>> {
  if (url.startsWith('sqlite:')) {
    const file = url.slice('sqlite:'.length)
    return async (text) => {
      const db = new DatabaseSync(file)
      db.exec(text)
      db.close()
    }
  }
  const schema = new URL(url).searchParams.get('schema')
  return (text) => query(url, `set search_path = ${schema}; ${text}`)
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

async function signIn(url: string): Promise<string> {
  const { headers } = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ key: adminKey }),
  })
  return headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

async function measurePages(
  url: string,
  cookie: string,
  { size, rounds, print }: { readonly size: number; readonly rounds: number } & Pick<ProofOptions, 'print'>,
): Promise<number> {
  const p95s: number[] = []
  for (const [name, path] of Object.entries(pages(size))) {
    const times: number[] = []
    // The first look reads from the disk.
    for (let round = -1; round < rounds; round++) {
      const began = performance.now()
      const response = await fetch(`${url}/console${path}`, { headers: { cookie } })
      const text = await response.text()
      if (round >= 0) times.push(performance.now() - began)
      assert.equal(response.status, 200, `${name}: ${text}`)
      assert.ok(!response.redirected, `${name} was not shown`)
    }
    const p95 = quantile(times, 0.95)
    print(`${name}: p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`)
    p95s.push(p95)
  }
  return rounded(Math.max(...p95s))
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
