// The limits of our own frames against a peer that misbehaves. The peer is a list of bytes over TCP.

import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { createHttp2Client, type Http2Options } from '../../src/http2/client.ts'
import { errorCode, flag, frameType, writeHead } from '../../src/http2/frames.ts'
import { until } from '../support/wait.ts'

function frame(type: number, flags: number, stream: number, payload: Buffer | readonly number[] = []): Buffer {
  const body = Buffer.from(payload as Buffer)
  const bytes = Buffer.alloc(9 + body.length)
  writeHead(bytes, 0, body.length, type, flags, stream)
  body.copy(bytes, 9)
  return bytes
}
const repeat = (bytes: Buffer, times: number) => Buffer.concat(Array.from({ length: times }, () => bytes))
const settings = frame(frameType.settings, 0, 0)
const ok = frame(frameType.headers, flag.endHeaders | flag.endStream, 1, [0x88])
/** `:status: 200` and content-length. */
const declares = (length: string) =>
  frame(frameType.headers, flag.endHeaders, 1, [0x88, 0x0f, 0x0d, length.length, ...Buffer.from(length)])

interface Peer {
  readonly origin: string
  readonly sockets: Socket[]
  /** What the client sent on its first connection. */
  received: Buffer
}

/** A peer that answers the first request of its first connection with these bytes, and the others with 200. */
async function peer(t: TestContext, bytes: Buffer, acknowledges = true): Promise<Peer> {
  const made = { origin: '', sockets: [] as Socket[], received: Buffer.alloc(0) }
  const server = createServer((socket) => {
    made.sockets.push(socket)
    const first = made.sockets.length === 1
    socket.on('error', () => {})
    socket.write(settings)
    if (acknowledges) socket.write(frame(frameType.settings, flag.ack, 0))
    let all = Buffer.alloc(0)
    let answered = false
    socket.on('data', (chunk: Buffer) => {
      all = Buffer.concat([all, chunk])
      if (first) made.received = all
      // The headers of the first request have arrived.
      if (answered || !all.includes('/limits')) return
      answered = true
      socket.write(first ? bytes : ok)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of made.sockets) socket.destroy()
    server.close()
  })
  made.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return made
}

function clientOf(t: TestContext, origin: string, over: Partial<Http2Options> = {}) {
  const client = createHttp2Client({ origin, http2: 'own', ...over })
  t.after(() => client.close())
  return client
}

const request = (ms = 20_000, body = '{}') => ({
  path: '/limits',
  headers: [],
  body,
  deadline: Date.now() + ms,
  signal: new AbortController().signal,
})

/** The codes of the frames of a type that the client sent, at an offset of their payload. */
function sent(made: Peer, type: number, offset: number): number[] {
  const codes: number[] = []
  for (let at = 24; at + 9 <= made.received.length; at += 9 + made.received.readUIntBE(at, 3))
    if (made.received[at + 3] === type) codes.push(made.received.readUInt32BE(at + 9 + offset))
  return codes
}

const many = 11_000
const floods: readonly [string, Buffer, number][] = [
  ['PING', frame(frameType.ping, 0, 0, Buffer.alloc(8)), errorCode.enhanceYourCalm],
  ['SETTINGS', settings, errorCode.enhanceYourCalm],
  ['empty DATA', frame(frameType.data, 0, 1), errorCode.enhanceYourCalm],
  ['RST_STREAM', frame(frameType.reset, 0, 1, [0, 0, 0, 8]), errorCode.enhanceYourCalm],
  ['WINDOW_UPDATE', frame(frameType.windowUpdate, 0, 0, [0, 0, 0, 1]), errorCode.enhanceYourCalm],
  ['PRIORITY', frame(frameType.priority, 0, 1, [0, 0, 0, 0, 1]), errorCode.enhanceYourCalm],
  ['frames of an unknown type', frame(0xcc, 0, 0), errorCode.enhanceYourCalm],
  [
    'interim answers',
    frame(frameType.headers, flag.endHeaders, 1, [0x08, 3, ...Buffer.from('103')]),
    errorCode.enhanceYourCalm,
  ],
]
for (const [name, one, code] of floods)
  test(`a flood of ${name} ends the connection, and the next connection works`, async (t) => {
    const data = name === 'empty DATA' ? [frame(frameType.headers, flag.endHeaders, 1, [0x88])] : []
    const made = await peer(t, Buffer.concat([...data, repeat(one, many)]))
    const client = clientOf(t, made.origin)
    const exchanged = await client.post(request())
    assert.ok('lost' in exchanged && exchanged.written)
    if (name !== 'RST_STREAM') assert.match(exchanged.lost.message, /floods the connection/)
    await until(() => sent(made, frameType.goaway, 4).length > 0, { awaited: 'GOAWAY' })
    assert.deepEqual(sent(made, frameType.goaway, 4), [code])
    assert.partialDeepStrictEqual(await client.post(request()), { status: 200 })
  })

test('a flood of CONTINUATION ends the connection', async (t) => {
  const start = frame(frameType.headers, 0, 1)
  const made = await peer(t, Buffer.concat([start, repeat(frame(frameType.continuation, 0, 1), many)]))
  const exchanged = await clientOf(t, made.origin).post(request())
  assert.ok('lost' in exchanged && /floods/.test(exchanged.lost.message))
})

const malformed: readonly [string, Buffer, RegExp][] = [
  [
    'a body longer than content-length',
    Buffer.concat([declares('1'), frame(0, 1, 1, [1, 2])]),
    /exceeds content-length/,
  ],
  ['a body shorter than content-length', Buffer.concat([declares('9'), frame(0, 1, 1, [1])]), /shorter than content/],
  ['content-length that is not a number', declares('1,2'), /content-length is not a number/],
  ['a body before its headers', frame(0, 1, 1, [1]), /before its headers/],
  ['no status', frame(1, flag.endHeaders, 1, [0x0f, 0x0d, 1, 0x31]), /no valid :status/],
  ['a header of the connection', frame(1, 4, 1, [0x88, 0, 10, ...Buffer.from('connection'), 1, 0x31]), /not allowed/],
  ['a header in capital letters', frame(1, 4, 1, [0x88, 0, 1, 0x41, 1, 0x31]), /not allowed/],
  ['a second :status', frame(1, 4, 1, [0x88, 0x88]), /not allowed/],
]
for (const [name, bytes, message] of malformed)
  test(`an answer with ${name} is reset, and the connection goes on`, async (t) => {
    const made = await peer(t, bytes)
    const client = clientOf(t, made.origin)
    const exchanged = await client.post(request())
    assert.ok('lost' in exchanged && exchanged.written)
    assert.match(exchanged.lost.message, message)
    await until(() => sent(made, frameType.reset, 0).length > 0, { awaited: 'RST_STREAM' })
    assert.deepEqual(sent(made, frameType.reset, 0), [errorCode.protocol])
    assert.deepEqual(sent(made, frameType.goaway, 4), [])
  })

test('a peer that does not acknowledge our SETTINGS loses the connection', async (t) => {
  const made = await peer(t, Buffer.alloc(0), false)
  const exchanged = await clientOf(t, made.origin, { connectTimeoutMs: 100 }).post(request())
  assert.ok('lost' in exchanged)
  assert.match(exchanged.lost.message, /not acknowledged/)
  await until(() => sent(made, frameType.goaway, 4).length > 0, { awaited: 'GOAWAY' })
  assert.deepEqual(sent(made, frameType.goaway, 4), [errorCode.settingsTimeout])
})

test('a request that was never handed to the operating system is not written, and one that was is', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    // The windows are open, but nothing is read: the buffers of the operating system fill up.
    socket.write(
      Buffer.concat([
        frame(frameType.settings, 0, 0, [0, 3, 0, 0, 3, 232, 0, 4, 0x7f, 0xff, 0xff, 0xff]),
        frame(frameType.windowUpdate, 0, 0, [0x7f, 0xfe, 0, 0]),
      ]),
    )
    socket.pause()
    t.after(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const client = clientOf(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, { pingTimeoutMs: 60_000 })
  const body = 'x'.repeat(100_000)
  const stop = new AbortController()
  const sending = Array.from({ length: 500 }, () => client.post({ ...request(60_000, body), signal: stop.signal }))
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
