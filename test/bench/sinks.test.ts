// The sinks of the push benchmarks implement enough of HTTP for a real client.

import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import test from 'node:test'
import { request } from 'undici'
import { http1Sink } from '../../bench/harness/http1-sink.ts'
import {
  dataFrame,
  endHeaders,
  endStream,
  headersFrame,
  http2Sink,
  literal,
  status200,
} from '../../bench/harness/http2-sink.ts'
import { listenAt } from '../../src/base/runtime/local-server.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'

test('HTTP/2: each of a thousand requests gets the answer, on its own stream', async (t) => {
  const certificate = makeCertificate()
  const server = http2Sink({ certificate, streams: 100, latencyMs: 1 }, [
    { type: headersFrame, flags: endHeaders, payload: Buffer.concat([status200, literal('x-by', 'sink')]) },
    { type: dataFrame, flags: endStream, payload: Buffer.from('{"name":"n"}') },
  ])
  const session = connect(await listenAt(server, { scheme: 'https' }), { ca: certificate.cert })
  t.after(() => {
    session.destroy()
    server.close()
  })
  const ask = (n: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': `/${n}` })
      let head = ''
      let body = ''
      stream.setEncoding('utf8').on('error', reject)
      stream.on('response', (headers) => {
        head = `${headers[':status']} ${headers['x-by']}`
      })
      stream.on('data', (text) => {
        body += text
      })
      stream.on('end', () => resolve(`${head} ${body}`))
      stream.end('x'.repeat(n * 10))
    })
  const answers = await Promise.all(Array.from({ length: 1_000 }, (_, n) => ask(n)))
  assert.deepEqual([...new Set(answers)], ['200 sink {"name":"n"}'])
})

test('HTTP/1.1: each request gets the answer, one after the other', async (t) => {
  const server = http1Sink('HTTP/1.1 201 Created\r\nLocation: https://x\r\nContent-Length: 0\r\n\r\n', 0)
  t.after(() => server.close())
  const url = await listenAt(server)
  for (const size of [1, 500, 200_000]) {
    const { statusCode, headers } = await request(url, { method: 'POST', body: Buffer.alloc(size) })
    assert.deepEqual([statusCode, headers.location], [201, 'https://x'])
  }
})
