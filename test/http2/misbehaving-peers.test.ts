// Peers that violate the protocol or a limit, against our own session: the error has the right code and names the violation, and the
// next request works.

import assert from 'node:assert/strict'
import test from 'node:test'
import { createHttp2Client } from '../../src/base/http2/client.ts'
import { errorCode, flag, frameType } from '../../src/base/http2/frames.ts'
import { until } from '../support/wait.ts'
import { frame, literalField, type Misbehaviour, rawPeer, repeat, status200 } from './raw-peer.ts'

/** More frames than a client accepts in a row. */
const flood = 11_000

interface Expected {
  /** The code of the GOAWAY that ends the connection. */
  readonly goaway?: number
  /** The code of the RST_STREAM that ends only the stream. */
  readonly reset?: number
  readonly error: RegExp
  /** The client may conclude that the peer is silent. */
  readonly silent?: boolean
}

function ends(title: string, misbehaviour: Misbehaviour, expected: Expected): void {
  test(`http2 own: ${title}`, { timeout: 60_000 }, async (t) => {
    const peer = await rawPeer(t, misbehaviour)
    const limits = { connectTimeoutMs: 1_000, pingAfterMs: expected.silent ? 400 : 30_000, pingTimeoutMs: 400 }
    const client = createHttp2Client({ origin: peer.url, ...limits })
    t.after(() => client.close())
    const { signal } = new AbortController()
    const request = () => ({ path: '/', headers: [], body: '{}', deadline: Date.now() + 30_000, signal })
    const exchanged = await client.post(request())
    assert.ok('lost' in exchanged, 'the request has no answer')
    assert.match(exchanged.lost.message, expected.error)
    assert.equal(exchanged.written, true)
    const { goaway, reset } = expected
    if (goaway !== undefined) await until(() => peer.goaways.length > 0, { awaited: `GOAWAY ${goaway}` })
    if (reset !== undefined) await until(() => peer.resets.length > 0, { awaited: `RST_STREAM ${reset}` })
    if (!expected.silent) {
      assert.deepEqual(peer.goaways, goaway === undefined ? [] : [goaway])
      assert.deepEqual(peer.resets, reset === undefined ? [] : [reset])
    }
    assert.partialDeepStrictEqual(await client.post(request()), { status: 200 })
    assert.equal(peer.connections, expected.reset === undefined ? 2 : 1)
  })
}

const calm = errorCode.enhanceYourCalm
const floods = { goaway: calm, error: /floods the connection/ }
const tooLarge = { goaway: calm, error: /headers of an answer are too large/ }
const headers = (block: Buffer, flags: number = flag.endHeaders | flag.endStream): Buffer =>
  frame(frameType.headers, flags, 1, block)
const begun = headers(status200, flag.endHeaders)

/** An entry of the table that is repeated by its index: few bytes on the wire. */
const bomb = Buffer.concat([status200, literalField('x-bomb', 'a'.repeat(4_000)), Buffer.alloc(100, 0xbe)])
ends('headers that are small on the wire and large in memory end the connection', { bytes: headers(bomb) }, tooLarge)

const opened = headers(status200, 0)
const kilobyte = frame(frameType.continuation, 0, 1, literalField('x-long', 'a'.repeat(1_000)))
ends(
  'a flood of CONTINUATION frames ends the connection',
  { bytes: Buffer.concat([opened, repeat(kilobyte, 200)]) },
  tooLarge,
)

const nothing = frame(frameType.continuation, 0, 1)
ends(
  'a flood of empty CONTINUATION frames ends the connection',
  { bytes: Buffer.concat([opened, repeat(nothing, flood)]) },
  floods,
)

const floodOf: readonly [string, Buffer][] = [
  ['PING frames', frame(frameType.ping, 0, 0, Buffer.alloc(8))],
  ['SETTINGS frames', frame(frameType.settings, 0, 0)],
  ['acknowledgements of SETTINGS', frame(frameType.settings, flag.ack, 0)],
  ['PRIORITY frames', frame(frameType.priority, 0, 1, Buffer.alloc(5))],
  ['frames of an unknown type', frame(0xbe, 0, 0)],
  ['WINDOW_UPDATE frames', frame(frameType.windowUpdate, 0, 0, Buffer.of(0, 0, 0, 1))],
  ['interim answers', headers(Buffer.from([0x08, 0x03, 0x31, 0x30, 0x33]), flag.endHeaders)],
]
for (const [name, one] of floodOf) ends(`a flood of ${name} ends the connection`, { bytes: repeat(one, flood) }, floods)

/** As many entries of an unknown setting as fit into one frame. */
const entries = repeat(Buffer.from([0xff, 0, 0, 0, 0, 0]), 2_730)
ends(
  'a flood of entries in few SETTINGS frames ends the connection',
  { bytes: repeat(frame(frameType.settings, 0, 0, entries), 5) },
  floods,
)

const empty = frame(frameType.data, 0, 1)
ends(
  'a flood of empty DATA frames ends the connection',
  { bytes: Buffer.concat([begun, repeat(empty, flood)]) },
  floods,
)

const data = (text: string): Buffer => frame(frameType.data, flag.endStream, 1, Buffer.from(text))
const declares = headers(Buffer.concat([status200, literalField('content-length', '5')]), flag.endHeaders)
const malformed = errorCode.protocol
ends(
  'a body that is longer than content-length is no answer',
  { bytes: Buffer.concat([declares, data('longer')]) },
  { reset: malformed, error: /exceeds content-length/ },
)
ends(
  'a body that is shorter than content-length is no answer',
  { bytes: Buffer.concat([declares, data('four')]) },
  { reset: malformed, error: /shorter than content-length/ },
)
ends(
  'an answer without a status is no answer',
  { bytes: headers(literalField('x-a', 'b')) },
  { reset: malformed, error: /no valid :status/ },
)
ends(
  'a header name in capitals is no answer',
  { bytes: headers(Buffer.concat([status200, literalField('X-A', 'b')])) },
  { reset: malformed, error: /a header is not allowed/ },
)

ends(
  'a content-length that is not a number is no answer',
  { bytes: headers(Buffer.concat([status200, literalField('content-length', '1,2')]), flag.endHeaders) },
  { reset: malformed, error: /content-length is not a number/ },
)
ends('a body before its headers is no answer', { bytes: data('a') }, { reset: malformed, error: /before its headers/ })
ends(
  'a header of the connection is no answer',
  { bytes: headers(Buffer.concat([status200, literalField('connection', 'x')])) },
  { reset: malformed, error: /a header is not allowed/ },
)
ends(
  'a second status is no answer',
  { bytes: headers(Buffer.concat([status200, status200])) },
  { reset: malformed, error: /a header is not allowed/ },
)

ends(
  'an invalid Huffman code ends the connection',
  { bytes: headers(Buffer.of(0x88, 0x40, 0x01, 0x61, 0x82, 0xff, 0xff)) },
  { goaway: errorCode.compression, error: /Huffman/ },
)
ends(
  'a frame that is too large ends the connection',
  { bytes: frame(frameType.data, 0, 1, Buffer.alloc(16_385)) },
  { goaway: errorCode.frameSize, error: /16385 bytes/ },
)
ends(
  'a promised push ends the connection',
  { bytes: frame(frameType.pushPromise, flag.endHeaders, 1, Buffer.of(0, 0, 0, 2, 0x82)) },
  { goaway: errorCode.protocol, error: /PUSH_PROMISE/ },
)
ends(
  'an answer to a request that was never sent ends the connection',
  { bytes: frame(frameType.headers, flag.endHeaders, 99, status200) },
  { goaway: errorCode.protocol, error: /was not started/ },
)

ends(
  'SETTINGS that are never acknowledged end the connection',
  { greeting: frame(frameType.settings, 0, 0), bytes: begun },
  { goaway: errorCode.settingsTimeout, error: /SETTINGS were not acknowledged/ },
)
ends('a peer that falls silent loses the connection', {}, { silent: true, error: /stalled: no answer to a PING/ })

test('http2 own: a flood of RST_STREAM ends the connection, and the next one works', { timeout: 60_000 }, async (t) => {
  const bytes = repeat(frame(frameType.reset, 0, 1, Buffer.of(0, 0, 0, 8)), flood)
  const peer = await rawPeer(t, { bytes })
  const client = createHttp2Client({ origin: peer.url })
  t.after(() => client.close())
  const { signal } = new AbortController()
  const request = () => ({ path: '/', headers: [], body: '{}', deadline: Date.now() + 30_000, signal })
  const exchanged = await client.post(request())
  assert.ok('lost' in exchanged && exchanged.written)
  assert.match(exchanged.lost.message, /reset the stream \(code 8\)/)
  await until(() => peer.goaways.includes(calm), { awaited: 'GOAWAY with ENHANCE_YOUR_CALM' })
  await until(async () => 'status' in (await client.post(request())), { awaited: 'the next connection answers' })
  assert.equal(peer.connections, 2)
})
