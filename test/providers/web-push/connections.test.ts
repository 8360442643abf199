// The requirements for every push service, with Web Push over HTTP/2, and its connections: their guard, their fallback and their number.

import assert from 'node:assert/strict'
import { createServer as createHttpsServer } from 'node:https'
import type { LookupFunction } from 'node:net'
import test, { type TestContext } from 'node:test'
import { clock } from '../../../src/base/runtime/clock.ts'
import { createOrigins, type OriginsOptions } from '../../../src/subjects/providers/web-push/origins.ts'
import { makeVapidKeys } from '../../../src/subjects/providers/web-push/vapid.ts'
import { makeCertificate } from '../../../src/tools/stand-ins/certificate.ts'
import { createFaults } from '../../../src/tools/stand-ins/faults.ts'
import { openPushServer } from '../../../src/tools/stand-ins/push-server.ts'
import { pushServiceSuite } from '../../suites/push-service.ts'
import { connectProxy } from '../../support/connect-proxy.ts'
import { contextOf } from '../../support/context.ts'
import { listenLocally } from '../../support/listen-locally.ts'
import { webPushRows } from '../web-push-rows.ts'
import { subject, webPushStage } from './fixture.ts'

const standInCertificate = makeCertificate()

// web-push.test.ts has the requirements over HTTP/1.1.
pushServiceSuite({
  name: 'web-push',
  variant: 'HTTP/2',
  http2: true,
  rows: webPushRows,
  start: (t) => webPushStage(t, { ca: standInCertificate.cert }, { certificate: standInCertificate }),
})

// In these tests 127.0.0.1 is a public address, and 127.0.0.9 an internal one.
const allowed = (address: string): boolean => address === '127.0.0.1'
const host = 'push.example.test'
const certificate = makeCertificate(host)

test('http2: the connection uses the address that was checked, without another look-up', async (t) => {
  const server = await startServer(t)
  const names = nameServer('127.0.0.1', '127.0.0.9')
  const origins = start(t, { lookup: names.lookup })
  for (let n = 0; n < 3; n++) assert.partialDeepStrictEqual(await post(origins, server.url), { status: 201 })
  assert.equal(names.asked(), 1)
})

test('http2: a name with an internal address at its second look-up (DNS rebinding) is not connected to', async (t) => {
  const server = await startServer(t)
  const names = nameServer('127.0.0.1', '127.0.0.9')
  const origins = start(t, { lookup: names.lookup })
  server.faults.play({ goaway: true, times: 1 })
  assert.partialDeepStrictEqual(await post(origins, server.url), { status: 201 })
  const exchanged = await post(origins, server.url)
  assert.ok('lost' in exchanged)
  assert.equal(exchanged.lost.code, 'FORBIDDEN_ADDRESS')
  assert.equal(exchanged.written, false)
  assert.deepEqual([names.asked(), server.requests()], [2, 1])
})

for (const proxied of [false, true])
  test(`http2: an IP address of this machine is not connected to${proxied ? ', nor is the proxy' : ''}`, async (t) => {
    const server = await startServer(t)
    const proxy = await connectProxy(t)
    const origins = createOrigins({ ...base, ca: certificate.cert, ...(proxied && { proxy: proxy.url() }) })
    t.after(() => origins.close())
    for (const address of ['127.0.0.1', '[::ffff:7f00:1]', '2130706433']) {
      const exchanged = await post(origins, server.url.replace(host, address))
      assert.ok('lost' in exchanged && exchanged.lost.code === 'FORBIDDEN_ADDRESS' && !exchanged.written)
    }
    assert.deepEqual([server.requests(), proxy.tunnels], [0, []])
  })

for (const protocols of [['http/1.1'], undefined]) {
  const kind = protocols ? 'refuses HTTP/2 in its handshake' : 'does not know ALPN'
  test(`http2: a service that ${kind} is reached over HTTP/1.1, and not asked for HTTP/2 again`, async (t) => {
    const server = await startHttp1Server(t, protocols)
    const origins = start(t, { lookup: nameServer('127.0.0.1').lookup })
    const answers = await Promise.all([1, 2, 3].map(() => post(origins, server.url)))
    for (const answer of answers) assert.partialDeepStrictEqual(answer, { status: 201 })
    const connections = server.connections()
    assert.partialDeepStrictEqual(await post(origins, server.url), { status: 201 })
    assert.deepEqual(server.versions(), ['1.1', '1.1', '1.1', '1.1'])
    assert.equal(server.connections(), connections)
  })
}

test('at most 256 origins are open, and an idle origin is closed but keeps its signature', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'] })
  t.mock.method(clock, 'monotonic', () => Date.now())
  const origins = createOrigins(base)
  t.after(() => origins.close())
  for (let n = 0; n < 300; n++) origins.of(`https://push-${n}.example.test`)
  assert.equal(origins.size, 256)
  t.mock.timers.tick(4 * 60_000)
  const signed = origins.of('https://push-299.example.test').authorization(Date.now())
  t.mock.timers.tick(2 * 60_000)
  assert.equal(origins.size, 1)
  t.mock.timers.tick(5 * 60_000)
  assert.equal(origins.size, 0)
  // Apple asks for at most one new signature an hour.
  assert.equal(origins.of('https://push-299.example.test').authorization(Date.now()), signed)
})

const base: OriginsOptions = { vapid: { ...makeVapidKeys(), subject }, concurrency: 10 }

function start(t: TestContext, options: Partial<OriginsOptions>) {
  const origins = createOrigins({ ...base, allowed, ca: certificate.cert, ...options })
  t.after(() => origins.close())
  return origins
}

function post(origins: ReturnType<typeof createOrigins>, url: string) {
  return origins.of(url).post({ path: '/x', headers: { ttl: '1' }, body: Buffer.from([0, 255, 128]) }, contextOf())
}

/** A name server with a list of answers, one for each look-up. The last answer is repeated. */
function nameServer(...answers: readonly string[]): { readonly lookup: LookupFunction; asked(): number } {
  let asked = 0
  const lookup: LookupFunction = (_hostname, _options, callback) => {
    const address = answers[Math.min(asked++, answers.length - 1)] as string
    callback(null, [{ address, family: 4 }])
  }
  return { lookup, asked: () => asked }
}

/** A push service over HTTP/2. */
async function startServer(t: TestContext) {
  const faults = createFaults()
  let requests = 0
  const server = await openPushServer({
    port: 0,
    certificate,
    streams: 100,
    faults,
    tokenOf: () => '',
    serve({ body }) {
      requests++
      assert.deepEqual(body, Buffer.from([0, 255, 128]))
      return { status: 201, accepted: true }
    },
    onArrival: () => {},
  })
  t.after(() => server.close())
  return { url: server.url.replace('127.0.0.1', host), faults, requests: () => requests }
}

async function startHttp1Server(t: TestContext, protocols: string[] | undefined) {
  const versions: string[] = []
  let connections = 0
  const server = createHttpsServer({ ...certificate, ...(protocols && { ALPNProtocols: protocols }) })
  server.on('connection', () => connections++)
  server.on('request', (request, response) => {
    versions.push(request.httpVersion)
    request.resume().on('end', () => response.writeHead(201).end())
  })
  const { port } = await listenLocally(t, server)
  return { url: `https://${host}:${port}`, versions: () => versions, connections: () => connections }
}
