// The client through an HTTP proxy.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createHttp2Client } from '../../src/base/http2/client.ts'
import { type Certificate, makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { createFaults } from '../../src/tools/stand-ins/faults.ts'
import { openPushServer } from '../../src/tools/stand-ins/push-server.ts'
import { connectProxy } from '../support/connect-proxy.ts'

for (const certificate of [undefined, makeCertificate()]) {
  const kind = certificate ? 'TLS' : 'cleartext'

  test(`http2: requests go through the proxy that is set (${kind})`, async (t) => {
    const { url: origin } = await standIn(t, certificate)
    const proxy = await connectProxy(t)
    const ca = certificate && { ca: certificate.cert }
    const client = createHttp2Client({ origin, proxy: proxy.url('user', 'p@ss'), ...ca })
    t.after(() => client.close())
    for (let n = 0; n < 3; n++) assert.partialDeepStrictEqual(await client.post(request()), { status: 200 })
    assert.deepEqual(proxy.tunnels, [
      { to: new URL(origin).host, authorization: `Basic ${Buffer.from('user:p@ss').toString('base64')}` },
    ])
  })
}

test('http2: a proxy that refuses fails the request with its status, and nothing was written', async (t) => {
  const proxy = await connectProxy(t, 407)
  const client = createHttp2Client({ origin: 'https://127.0.0.1:1', proxy: proxy.url() })
  t.after(() => client.close())
  const exchanged = await client.post(request())
  assert.ok('lost' in exchanged)
  assert.match(exchanged.lost.message, /CONNECT 127\.0\.0\.1:1 was answered 407/)
  assert.equal(exchanged.written, false)
})

test('http2: a proxy that cannot be reached fails the request, and nothing was written', async (t) => {
  const client = createHttp2Client({ origin: 'https://127.0.0.1:1', proxy: 'http://127.0.0.1:1' })
  t.after(() => client.close())
  const exchanged = await client.post(request())
  assert.ok('lost' in exchanged)
  assert.equal(exchanged.lost.code, 'ECONNREFUSED')
  assert.equal(exchanged.written, false)
})

const request = () => ({
  path: '/',
  headers: [],
  body: '{}',
  deadline: Date.now() + 10_000,
  signal: new AbortController().signal,
})

async function standIn(t: TestContext, certificate: Certificate | undefined) {
  const server = await openPushServer({
    port: 0,
    certificate,
    streams: 100,
    faults: createFaults(),
    tokenOf: () => '',
    serve: () => ({ status: 200, body: '{}', accepted: true }),
    onArrival: () => {},
  })
  t.after(() => server.close())
  return server
}
