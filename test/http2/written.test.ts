// `written` means handed to the operating system, not to a buffer of the client.

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import test from 'node:test'
import { createHttp2Client } from '../../src/base/http2/client.ts'
import { frameType } from '../../src/base/http2/frames.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { frame } from './raw-peer.ts'

test('a request that was never handed to the operating system is not written, and one that was is', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    // The windows are open, but nothing is read: the buffers of the operating system fill up.
    socket.write(
      Buffer.concat([
        frame(frameType.settings, 0, 0, Buffer.of(0, 3, 0, 0, 3, 232, 0, 4, 0x7f, 0xff, 0xff, 0xff)),
        frame(frameType.windowUpdate, 0, 0, Buffer.of(0x7f, 0xfe, 0, 0)),
      ]),
    )
    socket.pause()
  })
  const { url: origin } = await listenLocally(t, server)
  const client = createHttp2Client({ origin, pingTimeoutMs: 60_000 })
  t.after(() => client.close())
  const body = 'x'.repeat(100_000)
  const stop = new AbortController()
  const request = () => ({ path: '/written', headers: [], body, deadline: Date.now() + 60_000, signal: stop.signal })
  const sending = Array.from({ length: 500 }, () => client.post(request()))
  await new Promise((resolve) => setTimeout(resolve, 300))
  stop.abort(new Error('stopping'))
  const written = (await Promise.all(sending)).map((exchanged) => 'lost' in exchanged && exchanged.written)
  const first = written.indexOf(false)
  assert.ok(first > 0 && first < 500, `${first} requests were written`)
  assert.ok(
    written.slice(first).every((each) => !each),
    'requests are written in order',
  )
})
