// Every HTTP client that undici gives us offers HTTP/1.1 alone to a TLS server.

import assert from 'node:assert/strict'
import { createSecureServer } from 'node:http2'
import test from 'node:test'
import { createConnector, openDispatcher } from '../../src/base/http-client/dispatcher.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { connectProxy } from '../support/connect-proxy.ts'
import { listenLocally } from '../support/listen-locally.ts'

test('a server that prefers HTTP/2 is called over HTTP/1.1', async (t) => {
  const certificate = makeCertificate()
  const server = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) =>
    response.end(request.httpVersion),
  )
  const { port } = await listenLocally(t, server)
  const origin = `https://127.0.0.1:${port}`
  const ca = certificate.cert
  const proxy = await connectProxy(t)
  const clients = {
    direct: openDispatcher(origin, { ca }),
    connector: openDispatcher(origin, { connector: createConnector({ ca }) }),
    proxy: openDispatcher(origin, { proxy: proxy.url(), ca }),
  }
  for (const [name, client] of Object.entries(clients)) {
    t.after(() => client.close())
    const { body } = await client.request({ origin, path: '/', method: 'GET' })
    assert.equal(await body.text(), '1.1', name)
  }
})
