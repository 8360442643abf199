import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { adminRoutes } from '../../src/http/admin-access.ts'
import { healthRoutes } from '../../src/http/health.ts'
import { createHttp, HttpError, listen } from '../../src/http/http.ts'
import { UnstorableText } from '../../src/runtime/unstorable.ts'
import { StoreUnavailable } from '../../src/store/store-unavailable.ts'
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

test('every response has a header that forbids content type sniffing', async (t) => {
  const url = await serve(t, (app) => {
    app.get('/fine', async () => 'fine')
    app.get('/refused', () => Promise.reject(new HttpError(403, 'no')))
    adminRoutes(app, [], [])
  })
  for (const path of ['/fine', '/refused', '/missing', '/%ff']) {
    const answer = await fetch(url + path)
    await answer.text()
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path)
  }
})
