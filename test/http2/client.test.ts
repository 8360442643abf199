import assert from 'node:assert/strict'
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  sensitiveHeaders,
} from 'node:http2'
import { createServer as createTcpServer, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import {
  createHttp2Client,
  type Http2Client,
  type Http2Options,
  type PostRequest,
} from '../../src/base/http2/client.ts'
import type { Exchanged } from '../../src/base/http2/connection.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { createFaults, type Faults } from '../../src/tools/stand-ins/faults.ts'
import { openPushServer } from '../../src/tools/stand-ins/push-server.ts'
import type { Arrival } from '../../src/tools/stand-ins/stand-in.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { hourMs, setClock } from '../support/set-clock.ts'
import { until } from '../support/wait.ts'

type OnStream = (stream: ServerHttp2Stream, number: number) => void

interface Peer {
  readonly url: string
  readonly server: Http2Server
  readonly sessions: ServerHttp2Session[]
  /** Number of received streams. */
  seen: number
}

/** A peer that handles each stream with a given function. */
async function peer(
  t: TestContext,
  onStream: OnStream,
  settings: { maxConcurrentStreams?: number } = {},
): Promise<Peer> {
  const server = createServer({ settings })
  const sessions: ServerHttp2Session[] = []
  const made: Peer = { url: '', server, sessions, seen: 0 }
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => {})
  })
  server.on('stream', (stream) => {
    const number = ++made.seen
    stream.on('error', () => {})
    stream.resume()
    stream.on('end', () => onStream(stream, number))
  })
  const { url } = await listenLocally(t, server)
  return Object.assign(made, { url })
}

const answerOk: OnStream = (stream) => {
  stream.respond({ ':status': 200, 'x-id': String(stream.id) })
  stream.end('fine')
}

const requestOf = (ms = 10_000, over: Partial<PostRequest> = {}): PostRequest => ({
  path: '/',
  headers: [],
  body: '{}',
  deadline: Date.now() + ms,
  signal: new AbortController().signal,
  ...over,
})
const many = (count: number, post: () => Promise<Exchanged>) => Promise.all(Array.from({ length: count }, post))
const lost = (exchanged: Exchanged) => ('lost' in exchanged ? exchanged : assert.fail(`answered ${exchanged.status}`))

function client(t: TestContext, origin: string, over: Partial<Http2Options> = {}): Http2Client {
  const made = createHttp2Client({ origin, ...over })
  t.after(() => made.close())
  return made
}

test('http2: headers that are too large for peers fail only their own request, before it is sent', async (t) => {
  const made = await peer(t, answerOk)
  const http2 = client(t, made.url)
  const { lost: error, written } = lost(
    await http2.post(requestOf(10_000, { headers: ['x-long', 'a'.repeat(90_000)] })),
  )
  assert.deepEqual([error.code, written, made.seen], ['NOT_ENCODABLE', false, 0])
  assert.partialDeepStrictEqual(await http2.post(requestOf()), { status: 200 })
})

test('http2: the answer has status, headers and body', async (t) => {
  const { url } = await peer(t, answerOk)
  const exchanged = await client(t, url).post(requestOf())
  assert.partialDeepStrictEqual(exchanged, { status: 200, cut: false })
  assert.equal('status' in exchanged && exchanged.body.toString(), 'fine')
  assert.equal('status' in exchanged && exchanged.headers['x-id'], '1')
})

test('http2: for headers whose values differ in each request, the table keeps only the names', async (t) => {
  const there = await peer(t, answerOk)
  const unindexed: unknown[] = []
  there.server.on('stream', (_stream, headers) =>
    unindexed.push([headers['x-n'], Reflect.get(headers, sensitiveHeaders)]),
  )
  const made = client(t, there.url)
  for (const n of ['1', '2', '3'])
    await made.post(requestOf(10_000, { headers: ['a', 'b', 'x-n', n], unindexed: ['x-n'] }))
  assert.deepEqual(unindexed, [
    ['1', []],
    ['2', ['x-n']],
    ['3', ['x-n']],
  ])
})

test('http2: the first request opens a session, and all requests share it', async (t) => {
  const there = await peer(t, answerOk)
  const made = client(t, there.url)
  assert.equal(there.sessions.length, 0)
  const answers = await many(300, () => made.post(requestOf()))
  assert.ok(answers.every((answer) => 'status' in answer))
  assert.equal(there.sessions.length, 1)
})

test('http2: the peer’s stream limit is respected, and further sessions open only when the first is full', async (t) => {
  const held: ServerHttp2Stream[] = []
  const there = await peer(t, (stream, number) => (number === 1 ? answerOk(stream, number) : held.push(stream)), {
    maxConcurrentStreams: 10,
  })
  const made = client(t, there.url, { connections: 3 })
  await made.post(requestOf())
  assert.equal(there.sessions.length, 1)
  const answers = many(200, () => made.post(requestOf()))
  // The peer answers only when every session has the maximum number of streams, and then a few at a time.
  for (let answered = 0; answered < 200; ) {
    const open = Math.min(30, 200 - answered)
    await until(() => held.length === open, { awaited: `${open} streams open, and no more` })
    const some = held.splice(0, 7)
    for (const stream of some) answerOk(stream, 0)
    answered += some.length
  }
  assert.ok((await answers).every((answer) => 'status' in answer && answer.status === 200))
  assert.equal(there.sessions.length, 3)
})

test('http2: a GOAWAY loses no request: unprocessed requests are sent again', async (t) => {
  const { url, faults, arrivals } = await standIn(t)
  const made = client(t, url)
  faults.play({ every: 50, goaway: true })
  const answers: Exchanged[] = []
  const one = async () => {
    for (let i = 0; i < 20; i++) answers.push(await made.post(requestOf()))
  }
  await Promise.all(Array.from({ length: 50 }, one))
  assert.equal(answers.length, 1_000)
  assert.ok(answers.every((answer) => 'status' in answer))
  assert.equal(arrivals.filter(({ accepted }) => accepted).length, 1_000, 'each request was accepted once')
})

test('http2: after a GOAWAY with an error only the processed requests are uncertain', async (t) => {
  const held: ServerHttp2Stream[] = []
  const there = await peer(t, (stream, number) => {
    if (there.sessions.length > 1) return answerOk(stream, number)
    held.push(stream)
    if (held.length < 10) return
    // The first five may have had an effect.
    stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR, 9)
  })
  const made = client(t, there.url)
  const answers = await many(10, () => made.post(requestOf()))
  const uncertain = answers.filter((answer) => 'lost' in answer)
  assert.equal(uncertain.length, 5)
  assert.ok(uncertain.every((answer) => 'lost' in answer && answer.written && /GOAWAY 2/.test(answer.lost.message)))
  assert.ok(answers.slice(5).every((answer) => 'status' in answer))
})

test('http2: a refused request is sent again; after any other reset it may have arrived', async (t) => {
  const there = await peer(t, (stream, number) => {
    if (number === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM)
    else if (number === 3) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    else answerOk(stream, number)
  })
  const made = client(t, there.url)
  assert.partialDeepStrictEqual(await made.post(requestOf()), { status: 200 })
  assert.equal(there.seen, 2)
  const { lost: error, written } = lost(await made.post(requestOf()))
  assert.equal(written, true)
  assert.match(error.message, /reset the stream/)
  assert.equal(there.sessions.length, 1)
})

test('http2: a request that the peer always refuses is not sent forever', async (t) => {
  const there = await peer(t, (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM))
  const { written } = lost(await client(t, there.url).post(requestOf()))
  assert.equal(written, false)
  assert.equal(there.seen, 6)
})

test('http2: when a connection breaks, its requests are uncertain, and the next request opens a new one', async (t) => {
  const there = await peer(t, (stream, number) => {
    if (number === 1) stream.session?.destroy()
    else answerOk(stream, number)
  })
  const made = client(t, there.url)
  assert.equal(lost(await made.post(requestOf())).written, true)
  assert.partialDeepStrictEqual(await made.post(requestOf()), { status: 200 })
  assert.equal(there.sessions.length, 2)
})

test('http2: a partial answer counts as no answer', async (t) => {
  const there = await peer(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.write('{"na')
    setTimeout(() => stream.destroy(new Error('broken')), 20)
  })
  assert.equal(lost(await client(t, there.url).post(requestOf())).written, true)
})

test('http2: a refused connection fails all waiting requests, and nothing was written', async (t) => {
  const made = client(t, 'http://127.0.0.1:1')
  const answers = await many(20, () => made.post(requestOf()))
  for (const answer of answers) {
    const { lost: error, written } = lost(answer)
    assert.equal(error.code, 'ECONNREFUSED')
    assert.equal(written, false)
  }
})

test('http2: a peer without HTTP/2 and a silent peer make the connection fail', async (t) => {
  const silent = await tcp(t, () => {})
  const started = client(t, silent, { connectTimeoutMs: 100 })
  const { lost: error, written } = lost(await started.post(requestOf()))
  assert.match(error.message, /no HTTP\/2 connection within 100 ms/)
  assert.equal(written, false)

  const old = await tcp(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  assert.equal(lost(await client(t, old).post(requestOf())).written, false)
})

test('http2: a peer whose first frame is GOAWAY is not retried forever', async (t) => {
  let connections = 0
  // GOAWAY, last stream 0, as the first frame.
  const goaway = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  const goawayPeer = await tcp(t, (socket) => {
    connections++
    socket.end(goaway)
  })
  assert.equal(lost(await client(t, goawayPeer).post(requestOf(2_000))).written, false)
  assert.ok(connections <= 2, String(connections))
})

test('http2: post() resolves by the deadline, and reports whether the request was written', async (t) => {
  const silent = await tcp(t, () => {})
  assert.equal(lost(await client(t, silent).post(requestOf(50))).written, false)
  const there = await peer(t, () => {})
  assert.equal(lost(await client(t, there.url).post(requestOf(100))).written, true)
  const passed = lost(await client(t, there.url).post(requestOf(-1)))
  assert.equal(passed.written, false)
})

test('http2: a clock that is set ends no request', async (t) => {
  const answer = Promise.withResolvers<void>()
  const there = await peer(t, (stream, number) => void answer.promise.then(() => answerOk(stream, number)))
  const sending = client(t, there.url).post(requestOf(10_000))
  await until(() => there.seen === 1, { awaited: 'the request has arrived' })
  setClock(t, 3 * hourMs)
  await new Promise((resolve) => setTimeout(resolve, 60)) // two sweeps
  answer.resolve()
  assert.partialDeepStrictEqual(await sending, { status: 200 })
})

test('http2: an abort ends the request', async (t) => {
  const there = await peer(t, () => {})
  const made = client(t, there.url)
  const stop = new AbortController()
  const sending = made.post(requestOf(10_000, { signal: stop.signal }))
  await until(() => there.seen === 1, { awaited: 'the request has arrived' })
  stop.abort(new Error('stopping'))
  assert.partialDeepStrictEqual(lost(await sending), { written: true })
  const aborted = lost(await made.post(requestOf(10_000, { signal: stop.signal })))
  assert.equal(aborted.written, false)
  assert.equal(aborted.lost.message, 'stopping')
})

test('http2: a PING detects a stalled peer, and the next request gets a new session', async (t) => {
  const there = await peer(t, (stream, number) => {
    if (number > 1) answerOk(stream, number)
    // From now on the first connection receives nothing more, not even the answer to a PING.
    else (there.server as unknown as { emit(name: string): void }).emit('stall')
  })
  const relay = await stallable(t, there.url)
  there.server.on('stall' as 'session', () => relay.stall())
  const made = client(t, relay.url, { pingAfterMs: 100, pingTimeoutMs: 100 })
  const { lost: error, written } = lost(await made.post(requestOf()))
  assert.match(error.message, /stalled/)
  assert.equal(written, true)
  assert.partialDeepStrictEqual(await made.post(requestOf()), { status: 200 })
})

test('http2: after a long idle time a session must answer a PING before it gets a request, so that no request is uncertain', async (t) => {
  const there = await peer(t, answerOk)
  const relay = await stallable(t, there.url)
  const made = client(t, relay.url, { pingAfterMs: 50, pingTimeoutMs: 100 })
  await made.post(requestOf())
  relay.stall()
  await new Promise((resolve) => setTimeout(resolve, 60))
  assert.partialDeepStrictEqual(await made.post(requestOf()), { status: 200 })
  assert.equal(there.seen, 2)
})

test('http2: TLS requires a trusted certificate', async (t) => {
  const certificate = makeCertificate()
  const { url } = await standIn(t, certificate)
  const { lost: error, written } = lost(await client(t, url).post(requestOf()))
  assert.match(error.code ?? '', /SELF_SIGNED/)
  assert.equal(written, false)
  assert.partialDeepStrictEqual(await client(t, url, { ca: certificate.cert }).post(requestOf()), { status: 200 })
})

test('http2: close() waits for requests in flight, refuses new ones, and leaves no session open', async (t) => {
  let answer: (() => void) | undefined
  const there = await peer(t, (stream, number) => {
    answer = () => answerOk(stream, number)
  })
  const made = createHttp2Client({ origin: there.url })
  const sending = made.post(requestOf())
  await until(() => answer, { awaited: 'the request has arrived' })
  const closing = made.close()
  assert.equal(lost(await made.post(requestOf())).written, false)
  answer?.()
  assert.partialDeepStrictEqual(await sending, { status: 200 })
  await closing
  await until(() => there.sessions.every((session) => session.destroyed), { awaited: 'no session is left' })
  await made.close()
})

test('http2: an invalid header fails only its request', async (t) => {
  const there = await peer(t, answerOk)
  const made = client(t, there.url)
  assert.equal(lost(await made.post(requestOf(10_000, { headers: ['connection', 'close'] }))).written, false)
  assert.partialDeepStrictEqual(await made.post(requestOf()), { status: 200 })
})

async function standIn(t: TestContext, certificate?: { key: string; cert: string }) {
  const faults: Faults = createFaults()
  const arrivals: Arrival[] = []
  const server = await openPushServer({
    port: 0,
    certificate,
    streams: 100,
    faults,
    tokenOf: () => '',
    serve: () => ({ status: 200, body: '{}', accepted: true }),
    onArrival: (arrival) => arrivals.push(arrival),
  })
  t.after(() => server.close())
  return { url: server.url, faults, arrivals }
}

async function tcp(t: TestContext, onSocket: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    onSocket(socket)
  })
  return (await listenLocally(t, server)).url
}

/** A proxy that forwards bytes until stall() makes it discard the bytes of the current connections. */
async function stallable(t: TestContext, to: string): Promise<{ readonly url: string; stall(): void }> {
  const { connect } = await import('node:net')
  const stalled = new Set<Socket>()
  const live = new Set<Socket>()
  const url = await tcp(t, (socket) => {
    const other = connect(Number(new URL(to).port), '127.0.0.1')
    other.on('error', () => {})
    live.add(socket)
    socket.on('data', (chunk) => void (stalled.has(socket) || other.write(chunk)))
    other.on('data', (chunk) => void (stalled.has(socket) || socket.write(chunk)))
    socket.on('close', () => other.destroy())
    t.after(() => other.destroy())
  })
  return {
    url,
    stall() {
      for (const socket of live) stalled.add(socket)
    },
  }
}
