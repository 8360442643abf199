import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createAcceptedKeys } from '../../src/base/http/accepted-keys.ts'
import type { AccessKey } from '../../src/base/http/access.ts'
import { healthRoutes } from '../../src/base/http/health.ts'
import { createHttp, HttpError, listen } from '../../src/base/http/http.ts'
import { on } from '../../src/base/runtime/events.ts'
import { UnstorableText } from '../../src/base/runtime/unstorable.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { registerAdmin } from '../../src/sides/admin/route.ts'
import { openTrail } from '../support/audit.ts'
import { openRawSocket } from '../support/raw-socket.ts'
import { event } from '../support/wait.ts'

async function serve(t: TestContext, routes: (app: FastifyInstance) => void): Promise<string> {
  const app = createHttp('operator', 1024)
  routes(app)
  await app.ready()
  const { url, close } = await listen('operator', app.routing)
  t.after(async () => {
    await app.close()
    await close(100)
  })
  return url
}

const internalError = 'PostgreSQL: connect ECONNREFUSED 10.1.2.3:5432'

test('responses name no internal address or statement; the log names them, with the stack', async (t) => {
  const url = await serve(t, (app) => {
    healthRoutes(app, {
      check: () => Promise.reject(new StoreUnavailable(internalError)),
      signal: new AbortController().signal,
    })
    app.get('/app/inbox', () => Promise.reject(new StoreUnavailable(internalError)))
    app.get('/bug', () => Promise.reject(new TypeError(`Statement select_devices: ${internalError}`)))
  })
  for (const path of ['/readyz', '/app/inbox', '/bug']) {
    const logged = event('request.refused', (refused) => refused.path === path)
    const answer = await fetch(url + path)
    const text = await answer.text()
    assert.equal(answer.status, 503)
    assert.ok(answer.headers.get('retry-after'))
    assert.doesNotMatch(text, /10\.1\.2\.3|PostgreSQL|Statement|select_devices/)
    assert.match(JSON.parse(text).error, /log says why/)
    const { cause = '' } = await logged
    assert.match(cause, /10\.1\.2\.3/)
    // An unavailable store is not a bug of Bellwire, and every request logs a line for it.
    assert.equal(cause.includes('http.test.ts'), path === '/bug')
  }
})

test('text that cannot be stored is answered 400 with the name of its column, wherever it is found', async (t) => {
  const url = await serve(t, (app) => {
    app.get('/found', () => Promise.reject(new UnstorableText('user_id')))
  })
  const answer = await fetch(`${url}/found`)
  assert.equal(answer.status, 400)
  assert.match(((await answer.json()) as { error: string }).error, /^user_id holds U\+0000/)
})

test('a route with a body but without authentication cannot be registered', () => {
  const app = createHttp('operator', 1024)
  assert.throws(() => app.post('/open', async () => 'anybody'), /POST \/open .*give the route an onRequest/)
  assert.doesNotThrow(() => app.get('/open', async () => 'anybody'))
})

test('metrics are not answered on a loopback address under a foreign host name', async (t) => {
  const url = await serve(t, (app) =>
    healthRoutes(app, { check: async () => {}, signal: new AbortController().signal }),
  )
  const statusOf = (path: string, host: string) => {
    const socket = openRawSocket(t, url)
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    return socket.status()
  }
  assert.equal(await statusOf('/metrics', 'evil.example'), 403)
  assert.equal(await statusOf('/metrics', new URL(url).host), 200)
  assert.equal(await statusOf('/healthz', 'evil.example'), 200, 'a load balancer sends any name')
})

test('requests are measured by the pattern of their route, so that callers cannot create series', async (t) => {
  const url = await serve(t, (app) => {
    app.get('/messages/:ref', async () => ({}))
    app.get('/bug', () => Promise.reject(new Error('no')))
  })
  const answered: string[] = []
  t.after(
    on('request.answered', ({ ms, ...request }) => {
      assert.ok(ms >= 0 && ms < 60_000, String(ms))
      answered.push(Object.values(request).join(' '))
    }),
  )
  for (const path of ['/messages/1', '/messages/2', '/bug', '/a', '/b?c=1']) await fetch(url + path)
  assert.deepEqual(answered, [
    'operator GET /messages/:ref 2xx',
    'operator GET /messages/:ref 2xx',
    'operator GET /bug 5xx',
    'operator   4xx',
    'operator   4xx',
  ])
})

test('answers of /admin are not cached', async (t) => {
  const key = { name: 'office', key: 'the-key-of-the-office', scopes: ['counts', 'read'] as const }
  const trail = await openTrail(t)
  const url = await serve(t, (app) =>
    registerAdmin(
      app,
      createAcceptedKeys([key]),
      [{ method: 'GET', url: '/admin/texts', scope: 'read', act: null, says: 'Lists.', handler: async () => ({}) }],
      trail,
    ),
  )
  const answer = await fetch(`${url}/admin/texts`, { headers: { 'x-api-key': key.key } })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
})

test('every response has a header that forbids content type sniffing', async (t) => {
  const trail = await openTrail(t)
  const url = await serve(t, (app) => {
    app.get('/fine', async () => 'fine')
    app.get('/refused', () => Promise.reject(new HttpError(403, 'no')))
    registerAdmin(app, createAcceptedKeys<AccessKey>([]), [], trail)
  })
  for (const path of ['/fine', '/refused', '/missing', '/%ff']) {
    const answer = await fetch(url + path)
    await answer.text()
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path)
  }
})
