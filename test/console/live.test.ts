// Live pages cost the same for any number of viewers, and end when their part can no longer be shown to the viewer.

import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import test, { type TestContext } from 'node:test'
import Fastify from 'fastify'
import pg from 'pg'
import { HttpError } from '../../src/base/http/http-error.ts'
import { clock } from '../../src/base/runtime/clock.ts'
import { createRouteCaller, type Person } from '../../src/sides/console/call-route.ts'
import { createLivePages } from '../../src/sides/console/live.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { passTime, stoppableClock } from '../support/set-clock.ts'
import { adminKey, element, post, startPlatform, witness } from '../support/sides.ts'
import { ofBrand1 } from './at-work.ts'
import { signedIn } from './browse.ts'

test('50 viewers cause one request to a route in a second; an act is seen at once; who may see less, or leaves an entry, shares nothing', async (t) => {
  const time = stoppableClock(t)
  const app = Fastify()
  t.after(() => app.close())
  let asked = 0
  app.get('/admin/lanes', async (request) => ({ lanes: [], asked: ++asked, key: request.headers['x-api-key'] }))
  app.post('/admin/lanes/resume', async () => ({ ended: 0, lanes: [] }))
  const callAs = createRouteCaller(app, (name) => name === 'GET /admin/audit')
  app.get('/admin/audit', async () => ({ entries: [], asked: ++asked }))
  const person = (name: string, scopes: readonly string[]) =>
    ({ name, key: name, scopes, address: '127.0.0.1' }) as Person
  const call = callAs(person('anna', ['counts', 'audit']))
  const colleague = callAs(person('carl', ['audit', 'counts']))
  time.stop()
  await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? call : colleague)('GET /admin/lanes')))
  assert.equal(asked, 1)
  await callAs(person('ben', ['counts']))('GET /admin/lanes')
  assert.equal(asked, 2)
  for (const each of [call, colleague]) await each('GET /admin/audit')
  assert.equal(asked, 4)
  time.pass(1_000)
  await call('GET /admin/lanes')
  assert.equal(asked, 5)
  await call('POST /admin/lanes/resume', { body: { lane: '1/push' } })
  await call('GET /admin/lanes')
  assert.equal(asked, 6)
})

/** A connection whose part is composed at each `tick`. */
async function openLive(t: TestContext, compose: () => Promise<string>) {
  let tick = (): void => {}
  t.mock.method(clock, 'setInterval', (action: () => void) => {
    tick = action
    return setInterval(() => {}, 1_000_000).unref()
  })
  const pages = createLivePages()
  const server = createServer((_request, response: ServerResponse) => pages.add(response, {}, compose))
  const { url } = await listenLocally(t, server)
  const { body } = await fetch(url)
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const read = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString()
  return { tick: () => tick(), read, pages }
}

test('a live page is sent line by line when it changes, survives a store that is away, and ends when the key is refused', async (t) => {
  const parts: (string | Error)[] = [
    '<p>1\r\n2\r3\n4\u20285</p>',
    '<p>1\r\n2\r3\n4\u20285</p>',
    new HttpError(503, 'away'),
    '<p>2</p>',
    new HttpError(401, 'revoked'),
  ]
  let composed = 0
  const live = await openLive(t, async () => {
    const part = parts[composed++] ?? ''
    if (part instanceof Error) throw part
    return part
  })
  assert.equal(await live.read(), 'data: <p>1\ndata: 2\ndata: 3\ndata: 4\u20285</p>\n\n')
  const next = live.read()
  for (let turn = 0; turn < 3; turn++) {
    live.tick()
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(await next, 'data: <p>2</p>\n\n')
  live.tick()
  assert.equal(await live.read(), 'event: ended\ndata: \n\n')
  assert.equal(await live.read(), '', 'the connection has ended')
})

test('a page that stops ends its connections, and more viewers than the limit are refused', async (t) => {
  const live = await openLive(t, async () => 'x')
  await live.read()
  live.pages.stop()
  assert.equal(await live.read(), '')
  assert.throws(() => live.pages.add({} as ServerResponse, {}, async () => ''), { status: 503 })
})

test('a live part that cannot be shown ends or is tried again, and is never another page', async (t) => {
  const { url } = await startPlatform(t, { lanes: [] })
  const { cookie } = await signedIn(url, adminKey.key)
  const connect = (path: string, headers: object) =>
    fetch(`${url}/console${path}`, { headers: { accept: 'text/html, text/event-stream', ...headers } })
  for (const [path, headers] of [
    ['/lanes', {}],
    ['/lanes', { cookie: 'bellwire-platform=of-another-time' }],
    ['/nothing', { cookie }],
  ] as const) {
    const answer = await connect(path, headers)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.deepEqual([answer.status, await answer.text()], [200, 'event: ended\ndata: \n\n'], path)
  }
  const viewers = await Promise.all(Array.from({ length: 200 }, () => connect('/lanes', { cookie })))
  t.after(() => Promise.all(viewers.map(({ body }) => body?.cancel())))
  const refused = await connect('/lanes', { cookie })
  assert.match(refused.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.deepEqual([refused.status, await refused.text()], [503, ''])
})

test('viewers of different pages, with different keys, cost one statement on PostgreSQL each second', {
  skip: await withoutPostgres(),
}, async (t) => {
  const ticks: (() => void)[] = []
  const { setInterval } = clock
  t.mock.method(clock, 'setInterval', (action: () => void, ms: number) => {
    if (ms !== 1_000) return setInterval(action, ms)
    ticks.push(action)
    return setInterval(action, 1_000_000)
  })
  const { url } = await startPlatform(t, {
    store: await freshSchema(),
    keys: [adminKey, ofBrand1] as never,
    lanes: ['1', '2'].map((brand) => ({ brand, channel: 'push', mode: 'batch', provider: witness() })),
  })
  await post(`${url}/admin/lanes/pause`, { lane: '1/push', reason: 'test' }, adminKey.key)
  const viewers = await Promise.all(
    [adminKey, ofBrand1].flatMap(({ key }) =>
      ['', '/lanes', '/lane?name=1/push', '/push'].map(async (path) => {
        const { cookie } = await signedIn(url, key)
        const { body } = await fetch(`${url}/console${path}`, { headers: { cookie, accept: 'text/event-stream' } })
        const reader = (body as ReadableStream<Uint8Array>).getReader()
        await reader.read()
        return reader
      }),
    ),
  )
  t.after(() => Promise.all(viewers.map((reader) => reader.cancel())))
  const sent: string[] = []
  const { query } = pg.Client.prototype
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...given: [{ text?: string }]) {
    sent.push(given[0].text ?? '')
    return (query as unknown as (...given: unknown[]) => unknown).apply(this, given)
  })
  const names = ['lane_state', 'count_paused', 'select_controls', 'count_items', 'count_failed', 'latest_cancellations']
  /** @returns the statements for the pages after a change */
  async function letSecondPass(): Promise<readonly string[]> {
    await post(`${url}/admin/activities/push`, element(), adminKey.key)
    sent.length = 0
    // The answers that the viewers shared before are no longer used.
    passTime(t, 1_000)
    for (const tick of ticks) tick()
    // The last page shows no lane of messages, so it stays as it is.
    await Promise.all(viewers.filter((_, i) => i % 4 < 3).map((reader) => reader.read()))
    return sent.filter((text) => names.some((name) => text.includes(name)))
  }
  // On a busy machine, the reads of the pages may come in two turns of the event loop, each with a statement.
  let ofViewers = await letSecondPass()
  for (let others = 9; ofViewers.length > 1 && others > 0; others--) ofViewers = await letSecondPass()
  assert.equal(ofViewers.length, 1, ofViewers.join('\n\n'))
  for (const name of names) assert.ok(ofViewers[0]?.includes(name), name)
})
