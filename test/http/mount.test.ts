// Both sides mounted in a host server: Express 5, Fastify 5 (with and without middie) and node:http, over real connections.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import test, { type TestContext } from 'node:test'
import middie from '@fastify/middie'
import express, { type Express } from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { chain } from '../../src/base/http/mount.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { createPlatform, type Platform } from '../../src/sides/platform/create-platform.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { element, keys, openOperator, temporary, witness } from '../support/sides.ts'

/** JSON.parse would change this number. */
const largeId = '9007199254740993'
const batch = JSON.stringify([element({ id: 0 })]).replace('"id":0', `"id":${largeId}`)

const adminOnly = ['/admin/summary', '/metrics', '/docs', '/openapi.json', '/asyncapi.json', '/healthz', '/readyz']

for (const prefix of ['', '/bellwire']) {
  const where = prefix === '' ? 'without a prefix' : 'under a prefix'

  test(`Express 5, ${where}: batches arrive byte by byte, the host keeps its other routes, administration is not public`, async (t) => {
    const operator = await openOperator(t)
    const app = express()
    if (prefix === '') app.use(operator.handler)
    else app.use(prefix, operator.handler)
    await checkHost(await expressUrl(t, app), prefix)
  })

  test(`Fastify 5, ${where}: batches arrive byte by byte, the host keeps its parsers and routes, administration is not public`, async (t) => {
    const operator = await openOperator(t)
    const app = Fastify()
    await app.register(operator.fastify, { prefix })
    await checkHost(await fastifyUrl(t, app), prefix)
  })

  test(`Fastify 5 with middie, ${where}: batches arrive byte by byte, and the host keeps its routes`, async (t) => {
    const operator = await openOperator(t)
    const app = Fastify()
    await app.register(middie)
    if (prefix === '') app.use(operator.handler)
    else app.use(prefix, operator.handler)
    await checkHost(await fastifyUrl(t, app), prefix)
  })
}

test('a Fastify prefix may have parameters', async (t) => {
  const operator = await openOperator(t)
  const app = Fastify()
  await app.register(operator.fastify, { prefix: '/tenants/:tenant' })
  await app.register(operator.admin.fastify, { prefix: '/tenants/:tenant/inside' })
  const url = await fastifyUrl(t, app)
  assert.equal((await send(`${url}/tenants/a-longer-name/channels/push/batch`)).status, 200)
  assert.equal((await fetch(`${url}/tenants/a/inside/healthz`)).status, 200)
  const { text } = await fetchWithin(`${url}/tenants/a/inside/openapi.json`)
  assert.deepEqual(JSON.parse(text).servers, [{ url: `${url}/tenants/a/inside` }])
})

test('node:http: unknown paths are answered 404, and administration is reachable only where it is mounted', async (t) => {
  const operator = await openOperator(t)
  const alone = await httpUrl(t, createServer(operator.handler))
  assert.equal((await send(`${alone}/channels/push/batch`)).status, 200)
  for (const path of ['/', '/mine', '/channels', '/app/inbox', ...adminOnly]) {
    const { status, text } = await fetchWithin(alone + path)
    assert.deepEqual([path, status], [path, 404])
    assert.match((JSON.parse(text) as { error: string }).error, /path does not exist/)
  }
  const whole = await httpUrl(t, createServer(chain(operator.handler, operator.admin.handler)))
  assert.equal((await send(`${whole}/channels/push/batch`)).status, 200)
  assert.equal((await fetchWithin(`${whole}/metrics`)).status, 200)
  assert.equal((await fetchWithin(`${whole}/admin/summary`)).status, 401)
  assert.match((await fetchWithin(`${whole}/`)).text, /GET \/docs lists the routes/)
  const health = await httpUrl(t, createServer(chain(operator.handler, operator.health.handler)))
  assert.equal((await fetchWithin(`${health}/readyz`)).status, 200)
  assert.equal((await fetchWithin(`${health}/metrics`)).status, 404)
})

test('no form of a URL reaches administration through the handler of the interface', async (t) => {
  const operator = await openOperator(t)
  const { port } = new URL(await httpUrl(t, createServer(operator.handler)))
  for (const path of [
    '/%61dmin/summary',
    '/channels/push/single/../../../admin/summary',
    `http://127.0.0.1:${port}/admin/summary`,
    'http:///admin/summary',
    '//admin/summary',
    '/metrics?/channels/push/single',
    '/metrics#/channels/push/single',
  ])
    assert.equal(await statusOf(Number(port), path), 404, path)
  assert.equal(await statusOf(Number(port), `http://127.0.0.1:${port}/reconciliation`), 405)
})

test('a wrong method at a path of Bellwire is answered 405', async (t) => {
  const operator = await openOperator(t)
  const app = express()
  app.use(operator.handler)
  const url = await expressUrl(t, app)
  const { status, headers } = await fetchWithin(`${url}/channels/push/batch`)
  assert.deepEqual([status, headers.get('allow')], [405, 'POST'])
})

test('behind express.json() a request is answered with the remedy, and does not hang', async (t) => {
  const operator = await openOperator(t)
  const app = express()
  app.use(express.json())
  app.use(operator.handler)
  app.use(operator.admin.handler)
  const url = await expressUrl(t, app)
  const { status, text } = await send(`${url}/channels/push/batch`)
  assert.equal(status, 500)
  assert.match((JSON.parse(text) as { error: string }).error, /before express\.json\(\).*rawBody = bytes/)
  // A request without a body is not affected.
  assert.equal((await fetchWithin(`${url}/metrics`)).status, 200)
})

test('behind express.json() that keeps the bytes, and behind express.raw(), ids are exact', async (t) => {
  const operator = await openOperator(t)
  const parsers = [
    express.json({
      verify: (request: typeof express.request & { rawBody?: Buffer }, _response, bytes) => {
        request.rawBody = bytes
      },
    }),
    express.raw({ type: '*/*' }),
  ]
  for (const parser of parsers) {
    const app = express()
    app.use(parser)
    app.use(operator.handler)
    const { status, text } = await send(`${await expressUrl(t, app)}/channels/push/batch`)
    assert.equal(status, 200, text)
    assert.ok(text.includes(`"id":${largeId}`), text)
  }
})

test('before start() a side answers 503 at its own paths only', async (t) => {
  const operator = createOperator({ store: 'sqlite:never-opened.db', keys: [keys.one], suppression: 'none' })
  const app = express()
  app.use(operator.handler)
  const url = await expressUrl(t, app)
  assert.equal((await fetchWithin(`${url}/mine`)).text, 'mine')
  const { status, headers } = await send(`${url}/channels/push/batch`)
  assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
})

test('a platform is mounted in the same way, and accepts streams of any length through Fastify', async (t) => {
  const platform = await startedPlatform(t)
  const app = Fastify({ bodyLimit: 100 })
  await app.register(platform.fastify)
  await app.register(platform.admin.fastify, { prefix: '/inside' })
  const url = await fastifyUrl(t, app)
  assert.equal((await fetchWithin(`${url}/admin/summary`)).status, 404)
  assert.equal((await send(`${url}/v1/integration/user/device/link`)).status, 403)
  const lines = Array.from({ length: 50 }, () => `${JSON.stringify(element())}\n`).join('')
  const { status, text } = await send(`${url}/inside/admin/activities/push`, lines, 'application/x-ndjson')
  assert.equal(status, 200, text)
  assert.equal((JSON.parse(text) as { accepted: number }).accepted, 50)
})

/** Checks a host that has its own routes and the mounted part of Bellwire. */
async function checkHost(url: string, prefix: string): Promise<void> {
  const { status, text } = await send(`${url}${prefix}/channels/push/batch`)
  assert.equal(status, 200, text)
  assert.ok(text.includes(`"id":${largeId}`), text)
  assert.equal((await fetchWithin(`${url}/mine`)).text, 'mine')
  assert.equal((await send(`${url}/mine`, '{"parsed": true}')).text, '{"parsed":true}')
  for (const path of adminOnly) assert.equal((await fetchWithin(url + prefix + path)).text, 'not found: host', path)
}

async function expressUrl(t: TestContext, app: Express): Promise<string> {
  app.get('/mine', (_request, response) => void response.send('mine'))
  app.post('/mine', express.json(), (request, response) => void response.json(request.body))
  app.use((_request, response) => void response.status(404).send('not found: host'))
  return httpUrl(t, createServer(app))
}

async function fastifyUrl(t: TestContext, app: FastifyInstance): Promise<string> {
  app.get('/mine', async () => 'mine')
  app.post('/mine', async ({ body }) => body)
  app.setNotFoundHandler((_request, reply) => reply.code(404).send('not found: host'))
  t.after(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

async function httpUrl(t: TestContext, server: Server): Promise<string> {
  return (await listenLocally(t, server)).url
}

async function startedPlatform(t: TestContext): Promise<Platform> {
  const platform = createPlatform({
    store: `sqlite:${await temporary(t)}/platform.db`,
    keys: [{ name: 'crm', key: keys.one.key, scopes: ['enqueue', 'counts'] }],
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: witness() }],
  })
  await platform.start()
  t.after(() => platform.stop(1_000))
  return platform
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const send = (url: string, body = batch, type = 'application/json'): Promise<Answered> =>
  fetchWithin(url, { method: 'POST', body, headers: { 'content-type': type, 'x-api-key': keys.one.key } })

/** With a time limit, so that a request that hangs fails. */
async function fetchWithin(url: string, options: RequestInit = {}): Promise<Answered> {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(20_000) })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Sends the path unchanged; fetch() would normalize it. */
async function statusOf(port: number, path: string): Promise<number | undefined> {
  const asked = request({ port, path, host: '127.0.0.1', agent: false }).end()
  const [response] = await once(asked, 'response')
  response.resume()
  return response.statusCode
}
