// Tests the stand-in against the RFCs with requests that Bellwire's own code did not create.

import assert from 'node:assert/strict'
import { createECDH, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import library from 'web-push'
import { WebSocket } from 'ws'
import { decrypt } from '../../src/tools/stand-ins/web-push/decrypt.ts'
import {
  startWebPushStandIn,
  type WebPushStandIn,
  type WebPushStandInOptions,
} from '../../src/tools/stand-ins/web-push.ts'

async function start(t: TestContext, options: WebPushStandInOptions = {}): Promise<WebPushStandIn> {
  const standIn = await startWebPushStandIn(options)
  t.after(() => standIn.close())
  return standIn
}

interface Signer {
  readonly publicKey: string
  readonly privateKey: KeyObject
}

function newSigner(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return { publicKey: point.toString('base64url'), privateKey }
}

function authorization(signer: Signer, claims: object, header: object = { typ: 'JWT', alg: 'ES256' }): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign('sha256', Buffer.from(text), { key: signer.privateKey, dsaEncoding: 'ieee-p1363' })
  return `vapid t=${text}.${signature.toString('base64url')}, k=${signer.publicKey}`
}

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds

/** POSTs an encrypted text to a subscription. A header with the value undefined is left out. */
async function post(
  token: string,
  text: string,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<{ status: number; headers: Headers; errno: number | undefined }> {
  const subscription = JSON.parse(token) as { endpoint: string; keys: { p256dh: string; auth: string } }
  const { p256dh, auth } = subscription.keys
  const { cipherText } = library.encrypt(p256dh, auth, text, 'aes128gcm')
  const all = { ttl: '60', 'content-encoding': 'aes128gcm', ...headers }
  const response = await fetch(subscription.endpoint, {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    body: new Uint8Array(cipherText),
  })
  const body = await response.text()
  const errno = body === '' ? undefined : (JSON.parse(body) as { errno: number }).errno
  return { status: response.status, headers: response.headers, errno }
}

test('the example of RFC 8291, appendix A, is decrypted', () => {
  const receiver = createECDH('prime256v1')
  receiver.setPrivateKey(Buffer.from('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url'))
  const body = Buffer.from(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
    'base64url',
  )
  const auth = Buffer.from('BTBZMqHH6r4Tts7J_aSIgg', 'base64url')
  assert.equal(decrypt(body, receiver, auth).toString(), 'When I grow up, I want to be a watermelon')
})

test('a message is accepted, decrypted and shown; a payload that is not JSON is the body', async (t) => {
  const standIn = await start(t)
  const token = standIn.subscribe()
  const news: string[] = []
  const stop = standIn.onShown((_token, { title = '', body = '' }) => news.push(title + body))
  const content = { push_id: 'p1', title: 'T', body: 'B', image: 'I', url: 'U', data: { a: 'x', n: 5 } }
  const answer = await post(token, JSON.stringify(content), { ttl: '30' })
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('ttl'), '30')
  assert.match(answer.headers.get('location') ?? '', new RegExp(`^${standIn.url}/m/`))
  await post(token, 'plain')
  stop()
  await post(token, 'later')
  const [first, second] = standIn.shown(token)
  assert.partialDeepStrictEqual(first, { title: 'T', body: 'B', image: 'I', url: 'U', tag: 'p1', replaced: 0 })
  assert.deepEqual(first?.data, { a: 'x', n: '5' })
  assert.equal(second?.body, 'plain')
  assert.deepEqual(news, ['TB', 'plain'])
  assert.deepEqual(
    standIn.arrivals.map(({ body, accepted, status }) => [body, accepted, status]),
    [
      [JSON.stringify(content), true, 201],
      ['plain', true, 201],
      ['later', true, 201],
    ],
  )
})

test('an invalid request is answered with the error of push services, and its message is not shown', async (t) => {
  const standIn = await start(t)
  const token = standIn.subscribe()
  for (const [headers, status, errno] of [
    [{ ttl: undefined }, 400, 111],
    [{ ttl: '-1' }, 400, 112],
    [{ ttl: '1h' }, 400, 112],
    [{ topic: 'with space' }, 400, 113],
    [{ topic: 'x'.repeat(33) }, 400, 113],
    [{ urgency: 'urgent' }, 400, 111],
    [{ 'content-encoding': 'aesgcm' }, 400, 110],
    [{ 'content-encoding': undefined }, 400, 110],
  ] as const) {
    const answer = await post(token, 'x', headers)
    assert.deepEqual([answer.status, answer.errno], [status, errno], JSON.stringify(headers))
  }
  assert.equal((await post(token, 'x'.repeat(3_993))).status, 201)
  const tooLarge = await post(token, 'x'.repeat(3_994))
  assert.deepEqual([tooLarge.status, tooLarge.errno], [413, 104])
  const unknown = await post(token.replace(/(wpush\/v2\/)[^"]+/, '$1unknown'), 'x')
  assert.deepEqual([unknown.status, unknown.errno], [404, 102])
  standIn.forget(token)
  const gone = await post(token, 'x')
  assert.deepEqual([gone.status, gone.errno], [410, 106])
  assert.equal((await fetch((JSON.parse(token) as { endpoint: string }).endpoint)).status, 405)
  assert.equal(standIn.shown(token).length, 1)
})

test('only the holder of a subscription’s key may send to it', async (t) => {
  const standIn = await start(t)
  const signer = newSigner()
  const token = standIn.subscribe({ applicationServerKey: signer.publicKey })
  const right = { aud: standIn.url, exp: inSeconds(3_600), sub: 'mailto:ops@example.com' }
  const sending = async (header: string | undefined) => (await post(token, 'x', { authorization: header })).status
  assert.equal(await sending(authorization(signer, right)), 201)
  assert.equal(await sending(authorization(signer, { ...right, sub: 'https://www.example.com' })), 201)
  for (const [title, header] of [
    ['none', undefined],
    ['nonsense', 'vapid x'],
    ['another scheme', authorization(signer, right).replace('vapid', 'Bearer')],
    ['another audience', authorization(signer, { ...right, aud: 'https://fcm.googleapis.com' })],
    ['expired', authorization(signer, { ...right, exp: inSeconds(-1) })],
    ['more than a day', authorization(signer, { ...right, exp: inSeconds(25 * 3_600) })],
    ['no end', authorization(signer, { ...right, exp: undefined })],
    ['no subject', authorization(signer, { ...right, sub: undefined })],
    ['no address', authorization(signer, { ...right, sub: 'ops@example.com' })],
    ['another algorithm', authorization(signer, right, { alg: 'none' })],
    ['another signature', authorization({ ...newSigner(), publicKey: signer.publicKey }, right)],
  ] as const)
    assert.equal(await sending(header), 401, title)
  assert.equal(await sending(authorization(newSigner(), right)), 403)
  assert.equal(standIn.shown(token).length, 2)
})

test('the audience of a token is the origin of the endpoints', async (t) => {
  const standIn = await start(t, { origin: 'https://fcm.googleapis.com' })
  const signer = newSigner()
  const token = standIn.subscribe({ applicationServerKey: signer.publicKey })
  assert.match(token, /"https:\/\/fcm\.googleapis\.com\//)
  const here = token.replace('https://fcm.googleapis.com', standIn.url)
  const claims = { aud: 'https://fcm.googleapis.com', exp: inSeconds(60), sub: 'mailto:ops@example.com' }
  assert.equal((await post(here, 'x', { authorization: authorization(signer, claims) })).status, 201)
})

test('an offline device gets the stored messages when it is online again, but no expired ones', async (t) => {
  let now = Date.now()
  const standIn = await start(t, { now: () => now })
  const token = standIn.subscribe()
  standIn.setOnline(token, false)
  for (let i = 0; i < 10; i++) assert.equal((await post(token, `long ${i}`, { ttl: '3600' })).status, 201)
  await post(token, 'short', { ttl: '10' })
  await post(token, 'now or never', { ttl: '0' })
  assert.deepEqual(standIn.shown(token), [])
  now += 11_000
  const kept = () => standIn.kept(token).map(({ body }) => body)
  assert.deepEqual([kept().length, kept()[0], kept().at(-1)], [10, 'long 0', 'long 9'])
  standIn.setOnline(token, true)
  assert.deepEqual(kept(), [])
  const bodies = () => standIn.shown(token).map(({ body }) => body)
  assert.deepEqual(
    bodies(),
    Array.from({ length: 10 }, (_, i) => `long ${i}`),
  )
  standIn.setOnline(token, true)
  assert.equal(bodies().length, 10)
  await post(token, 'at once', { ttl: '0' })
  assert.equal(bodies().at(-1), 'at once')
})

test('a message replaces a stored one with the same topic; a shown one is replaced by its tag', async (t) => {
  const standIn = await start(t)
  const token = standIn.subscribe()
  const send = (tag: string, title: string, topic: string) =>
    post(token, JSON.stringify({ push_id: tag, title }), { topic })
  const shown = () => standIn.shown(token).map(({ title, replaced }) => [title, replaced])
  standIn.setOnline(token, false)
  await send('p1', 'first', 'one')
  await send('p1', 'second', 'one')
  await send('p1', 'third', 'one')
  await send('p2', 'other', 'two')
  standIn.setOnline(token, true)
  assert.deepEqual(shown(), [
    ['third', 2],
    ['other', 0],
  ])
  await send('p1', 'fourth', 'one')
  assert.deepEqual(shown(), [
    ['other', 0],
    ['fourth', 3],
  ])
})

test('a message that cannot be decrypted is accepted but not shown, as in browsers', async (t) => {
  const standIn = await start(t)
  const [token, other] = [standIn.subscribe(), standIn.subscribe()]
  const { endpoint } = JSON.parse(token) as { endpoint: string }
  const answer = await post(JSON.stringify({ ...(JSON.parse(other) as object), endpoint }), 'x')
  assert.equal(answer.status, 201)
  assert.deepEqual([standIn.shown(token), standIn.shown(other)], [[], []])
})

test('a fault can be an answer, latency, or a reset before or after acceptance', async (t) => {
  const standIn = await start(t)
  const [token, other] = [standIn.subscribe(), standIn.subscribe()]
  const stop = standIn.play({ token, answer: { status: 503, headers: { 'retry-after': '7' } } })
  const answer = await post(token, 'refused')
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '7'])
  assert.equal((await post(other, 'meanwhile')).status, 201)
  stop()
  standIn.play({ token, reset: 'before', times: 1 })
  await assert.rejects(post(token, 'not accepted'))
  standIn.play({ token, reset: 'after', times: 1 })
  await assert.rejects(post(token, 'accepted'))
  standIn.play({ token, delayMs: 20, times: 1 })
  standIn.play({ token, goaway: true, times: 1 })
  await post(token, 'late')
  assert.equal((await post(token, 'last')).headers.get('connection'), 'close')
  assert.deepEqual(
    standIn.shown(token).map(({ body }) => body),
    ['accepted', 'late', 'last'],
  )
  assert.deepEqual(
    standIn.arrivals.filter((arrival) => arrival.token === token).map(({ status, accepted }) => [status, accepted]),
    [
      [503, false],
      [0, false],
      [0, true],
      [201, true],
      [201, true],
    ],
  )
})

test('close() ends waiting requests and WebSocket connections', async () => {
  const standIn = await startWebPushStandIn()
  const token = standIn.subscribe()
  const socket = new WebSocket(standIn.autopush, 'push-notification')
  await once(socket, 'open')
  standIn.play({ delayMs: 60_000 })
  const waiting = assert.rejects(post(token, 'x'))
  const closed = once(socket, 'close')
  await standIn.close()
  await Promise.all([waiting, closed])
})

test('after a reconnect of the WebSocket, unacknowledged messages are sent again', async (t) => {
  const standIn = await start(t)
  const first = await connect(t, standIn, {})
  assert.equal(first.hello.status, 200)
  const channelID = '8e1a2b3c-0000-4000-8000-000000000001'
  first.send({ messageType: 'register', channelID })
  const { pushEndpoint: endpoint, status } = await first.receive()
  assert.equal(status, 200)
  const post = (text: string, topic = '') =>
    fetch(endpoint as string, {
      method: 'POST',
      headers: { ttl: '60', 'content-encoding': 'aes128gcm', ...(topic && { topic }) },
      body: text,
    })
  assert.equal((await post('one', 'topic')).status, 201)
  const one = await first.receive()
  assert.partialDeepStrictEqual(one, {
    messageType: 'notification',
    channelID,
    ttl: 60,
    topic: 'topic',
    data: Buffer.from('one').toString('base64url'),
    headers: { encoding: 'aes128gcm' },
  })
  first.send({ messageType: 'ack', updates: [{ channelID, version: one.version, code: 100 }] })
  first.send({})
  assert.deepEqual(await first.receive(), {})
  await post('two')
  await first.receive()
  await first.disconnect()
  await post('three')

  const again = await connect(t, standIn, { uaid: first.hello.uaid })
  assert.equal(again.hello.uaid, first.hello.uaid)
  const missed = [await again.receive(), await again.receive()].map(({ data }) =>
    Buffer.from(String(data), 'base64url').toString(),
  )
  assert.deepEqual(missed, ['two', 'three'])
  again.send({ messageType: 'unregister', channelID })
  assert.partialDeepStrictEqual(await again.receive(), { messageType: 'unregister', status: 200 })
  assert.equal((await post('four')).status, 410)
  const stranger = await connect(t, standIn, { uaid: 'unknown' })
  assert.notEqual(stranger.hello.uaid, 'unknown')
})

test('a WebSocket with another protocol is closed, without other effects', async (t) => {
  const standIn = await start(t)
  for (const text of ['not JSON', '[', '7', '{"messageType":"register","channelID":"x"}']) {
    const socket = new WebSocket(standIn.autopush, 'push-notification')
    await once(socket, 'open')
    socket.send(text)
    await once(socket, 'close')
  }
  assert.equal((await post(standIn.subscribe(), 'x')).status, 201)
})

type ServerMessage = Readonly<Record<string, unknown>>

async function connect(t: TestContext, standIn: WebPushStandIn, hello: object) {
  const socket = new WebSocket(standIn.autopush, 'push-notification')
  const received: ServerMessage[] = []
  const waiting: ((message: ServerMessage) => void)[] = []
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as ServerMessage
    const next = waiting.shift()
    if (next) next(message)
    else received.push(message)
  })
  await once(socket, 'open')
  assert.equal(socket.protocol, 'push-notification')
  t.after(() => socket.terminate())
  const send = (message: object): void => socket.send(JSON.stringify(message))
  const receive = (): Promise<ServerMessage> => {
    const message = received.shift()
    return message ? Promise.resolve(message) : new Promise((resolve) => waiting.push(resolve))
  }
  send({ messageType: 'hello', use_webpush: true, ...hello })
  const disconnect = async (): Promise<void> => {
    const closed = once(socket, 'close')
    socket.close()
    await closed
  }
  return { hello: await receive(), send, receive, disconnect }
}
