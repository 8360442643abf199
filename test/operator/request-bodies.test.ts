// Limits of the memory that request bodies can occupy, from callers with and without a key.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { clock } from '../../src/base/runtime/clock.ts'
import { headOf, openRawSocket } from '../support/raw-socket.ts'
import { adminKey, element, keys, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const MiB = 1024 * 1024
const secret = 'the-secret-of-the-body-tests-long-enough'
const lane = { brand: '1', channel: 'push', mode: 'batch' } as const
const device = { token: 'a', provider: 'firebase' }

const nowhere = '/nothing/here'
const endpoints = [
  {
    side: 'operator',
    paths: [
      '/channels/push/single',
      '/channels/site/batch',
      '/reconciliation',
      '/admin/devices/link',
      '/app/devices/link',
      nowhere,
    ],
  },
  { side: 'platform', paths: ['/v1/integration/user/device/link', '/admin/activities/push', '/admin/attributes/1'] },
] as const

async function start(t: TestContext, side: 'operator' | 'platform'): Promise<string> {
  const { url } =
    side === 'operator'
      ? await startOperator(t, { app: { secrets: [secret] } })
      : await startPlatform(t, { lanes: [{ ...lane, provider: witness() }] })
  return url
}

/** @returns a function that runs all intervals of a side that is started afterwards */
function catchSweeps(t: TestContext): () => void {
  const sweeps: (() => void)[] = []
  const { setInterval } = clock
  t.mock.method(clock, 'setInterval', (action: () => void, ms: number) => {
    sweeps.push(action)
    return setInterval(action, ms)
  })
  return () => {
    for (const sweep of sweeps) sweep()
  }
}

for (const { side, paths } of endpoints)
  test(`${side}: 30 half-sent bodies of 16 MiB without a key are refused unread, and their connections are closed`, async (t) => {
    const url = await start(t, side)
    const body = Buffer.alloc(16 * MiB - 1, 0x20)
    const before = process.memoryUsage().arrayBuffers
    const senders = Array.from({ length: 30 }, (_, i) => ({
      sender: openRawSocket(t, url),
      path: paths[i % paths.length] as string,
    }))
    for (const { sender, path } of senders) {
      sender.write(headOf(path, { 'content-length': 16 * MiB }))
      sender.write(body)
    }
    for (const { sender, path } of senders) assert.equal(await sender.status(), path === nowhere ? 404 : 401, path)
    const buffered = process.memoryUsage().arrayBuffers - before
    assert.ok(buffered < 32 * MiB, `${Math.round(buffered / MiB)} MiB of 480 MiB were received`)
    for (const { sender } of senders) await sender.ended()
  })

test('a small body with a wrong key leaves the connection open for the next request', async (t) => {
  const { url } = await startOperator(t)
  const socket = openRawSocket(t, url)
  const body = JSON.stringify(element())
  for (const key of ['wrong', keys.one.key])
    socket.write(headOf('/channels/push/single', { 'x-api-key': key, 'content-length': body.length }) + body)
  await until(() => socket.text.match(/HTTP\/1\.1 \d+/g)?.length === 2, { awaited: 'two answers' })
  assert.deepEqual(socket.text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401', 'HTTP/1.1 200'])
})

test('a small body with a wrong key that arrives after the refusal leaves the connection open for good', async (t) => {
  const timers: (() => void)[] = []
  const { setTimeout } = clock
  t.mock.method(clock, 'setTimeout', (action: () => void, ms: number) => {
    if (ms === 2_000) timers.push(action)
    return setTimeout(action, ms)
  })
  const { url } = await startOperator(t)
  const socket = openRawSocket(t, url)
  const body = JSON.stringify(element())
  const head = (key: string) => headOf('/channels/push/single', { 'x-api-key': key, 'content-length': body.length })
  const answers = () => socket.text.match(/HTTP\/1\.1 \d+/g) ?? []
  socket.write(head('wrong'))
  assert.equal(await socket.status(), 401)
  socket.write(body + head(keys.one.key) + body)
  await until(() => answers().length === 2, { awaited: 'the second answer' })
  assert.ok(timers.length > 0, 'a time limit for the body')
  for (const end of timers) end()
  socket.write(head(keys.one.key) + body)
  await until(() => answers().length === 3, { awaited: 'the third answer' })
})

test('bodies beyond the limit of bytes in flight are 503 with Retry-After; later bodies are accepted again', async (t) => {
  const { url } = await startOperator(t, { limits: { bodyBytes: 4 * MiB, bodyBytesInFlight: 4 * MiB } })
  const path = '/channels/push/batch'
  const half = headOf(path, { 'x-api-key': keys.one.key, 'content-length': 3 * MiB })
  const senders = [openRawSocket(t, url), openRawSocket(t, url)]
  for (const sender of senders) {
    sender.write(half)
    sender.write(Buffer.alloc(3 * MiB - 1, 0x20))
  }
  const refused = await until(() => senders.find(({ text }) => text !== ''), { awaited: 'an answer to one of the two' })
  assert.equal(await refused.status(), 503)
  assert.match(refused.text, /retry-after: 1\r\n/i)
  assert.equal((await post(url + path, [element()])).status, 200)
  for (const { socket } of senders) socket.destroy()
  await until(async () => (await post(url + path, Buffer.alloc(3 * MiB, 0x20))).status === 400, {
    awaited: 'a body is accepted again',
  })
})

test('a length that is only declared reserves nothing', async (t) => {
  const { url } = await startOperator(t, { limits: { bodyBytes: 4 * MiB, bodyBytesInFlight: 4 * MiB } })
  const path = '/channels/push/batch'
  const idle = Array.from({ length: 30 }, () => openRawSocket(t, url))
  for (const socket of idle) socket.write(headOf(path, { 'x-api-key': keys.one.key, 'content-length': 4 * MiB }))
  // This answer shows that the requests above were received.
  assert.equal((await post(`${url}/nothing`, 'x')).status, 404)
  assert.equal((await post(url + path, [element()])).status, 200)
  assert.deepEqual(
    idle.filter(({ text }) => text !== ''),
    [],
  )
})

test('the bytes of a body of unknown length count as they arrive', async (t) => {
  const { url } = await startOperator(t, { limits: { bodyBytes: MiB, bodyBytesInFlight: MiB } })
  const sockets = [openRawSocket(t, url), openRawSocket(t, url)]
  const chunk = Buffer.alloc(MiB / 4, 0x20)
  for (const socket of sockets) {
    socket.write(headOf('/channels/push/batch', { 'x-api-key': keys.one.key, 'transfer-encoding': 'chunked' }))
    for (let i = 0; i < 3; i++) {
      socket.write(`${chunk.length.toString(16)}\r\n`)
      socket.write(chunk)
      socket.write('\r\n')
    }
  }
  const refused = await until(() => sockets.find(({ text }) => text !== ''), { awaited: 'one of the two is refused' })
  assert.equal(await refused.status(), 503)
  await refused.ended()
  for (const { socket } of sockets) socket.destroy()
  assert.equal((await post(`${url}/channels/push/batch`, [element()])).status, 200)
})

test('a short stream counts as its length, and a long stream as 4 MiB', async (t) => {
  const { url } = await startPlatform(t, {
    lanes: [{ ...lane, provider: witness() }],
    bodyBytes: MiB,
    bodyBytesInFlight: 8 * MiB,
  })
  const path = '/admin/activities/push'
  const ndjson = { 'content-type': 'application/x-ndjson' }
  const open = (length: object) => {
    const socket = openRawSocket(t, url)
    socket.write(headOf(path, { ...ndjson, 'x-api-key': adminKey.key, ...length }))
    return socket
  }
  const enqueue = () => post(url + path, `${JSON.stringify(element())}\n`, adminKey.key, ndjson)
  const short = Array.from({ length: 100 }, () => open({ 'content-length': 1_000 }))
  for (let i = 0; i < 3; i++) assert.equal((await enqueue()).status, 200)
  const long = open({ 'content-length': 100 * MiB })
  assert.equal((await enqueue()).status, 200)
  assert.equal(long.text, '', 'the long stream is not refused')
  const unknown = open({ 'transfer-encoding': 'chunked' })
  assert.equal(await unknown.status(), 503)
  assert.deepEqual(
    short.filter(({ text }) => text !== ''),
    [],
    'no short stream is refused',
  )
  for (const { socket } of [...short, long, unknown]) socket.destroy()
})

test("users' bodies have a separate limit, so they cannot block the platform", async (t) => {
  const { url } = await startOperator(t, {
    app: { secrets: [secret] },
    limits: { bodyBytes: MiB, bodyBytesInFlight: MiB },
  })
  const sockets = Array.from({ length: 20 }, () => openRawSocket(t, url))
  for (const [i, socket] of sockets.entries()) {
    const authorization = `Bearer ${await createSubscriberToken({ secret, brand: '1', userId: `user ${i}` })}`
    socket.write(headOf('/app/devices/link', { authorization, 'content-length': 100 * 1024 }))
    socket.write(Buffer.alloc(100 * 1024 - 1, 0x20))
  }
  // One body of 100 KiB fits into 128 KiB.
  await until(() => sockets.filter(({ text }) => text.startsWith('HTTP/1.1 503')).length === 19, {
    awaited: '19 refusals',
  })
  assert.equal((await post(`${url}/channels/push/batch`, [element()])).status, 200)
})

test("one user's bodies cannot block those of other users", async (t) => {
  const { url } = await startOperator(t, { app: { secrets: [secret] } })
  const token = async (userId: string) => `Bearer ${await createSubscriberToken({ secret, brand: '1', userId })}`
  const mallory = await token('mallory')
  const sockets = Array.from({ length: 3 }, () => openRawSocket(t, url))
  for (const socket of sockets) {
    socket.write(headOf('/app/devices/link', { authorization: mallory, 'content-length': 128 * 1024 }))
    socket.write(Buffer.alloc(128 * 1024 - 1, 0x20))
  }
  // Two bodies of 128 KiB are 256 KiB.
  const refused = await until(() => sockets.find(({ text }) => text !== ''), { awaited: 'the third body is refused' })
  assert.equal(await refused.status(), 503)
  assert.match(refused.text, /too many request bodies/)
  const authorization = await token('other')
  assert.equal(
    (await post(`${url}/app/inbox/mark`, { as: 'read', up_to: '1' }, undefined, { authorization })).status,
    200,
  )
})

test("a user's body must arrive within five seconds, that of a key within thirty", async (t) => {
  const sweep = catchSweeps(t)
  const { url } = await startOperator(t, { app: { secrets: [secret] } })
  const authorization = `Bearer ${await createSubscriberToken({ secret, brand: '1', userId: '1001' })}`
  const [user, key] = [openRawSocket(t, url), openRawSocket(t, url)]
  user.write(headOf('/app/inbox/mark', { authorization, 'content-length': 10 }))
  key.write(headOf('/channels/push/single', { 'x-api-key': keys.one.key, 'content-length': 10 }))
  assert.equal((await post(`${url}/nothing`, 'x')).status, 404)
  const real = clock.monotonic
  t.mock.method(clock, 'monotonic', () => real() + 5_500)
  sweep()
  assert.equal(await user.status(), 503)
  assert.match(user.text, /within 5000 ms/)
  assert.equal(key.text, '')
})

test('/app and /admin accept small bodies only, and the error has the limit', async (t) => {
  const { url } = await startOperator(t, { app: { secrets: [secret] } })
  const body = JSON.stringify({ tokens: [{ ...device, token: 'x'.repeat(300 * 1024) }] })
  const authorization = `Bearer ${await createSubscriberToken({ secret, brand: '1', userId: '1001' })}`
  const answer = await post(`${url}/app/devices/link`, body, undefined, { authorization })
  assert.deepEqual([answer.status, /131072 bytes/.test(answer.body.error)], [413, true])
  const decide = await post(`${url}/admin/failed/dismiss`, body, adminKey.key)
  assert.deepEqual([decide.status, /262144 bytes/.test(decide.body.error)], [413, true])
})

test('a slow stream of records is read to its end; a stream that pauses too long is answered 503', async (t) => {
  const { url } = await startPlatform(t, {
    testing: { bodyTimeoutMs: 1_000 },
    lanes: [{ ...lane, provider: witness() }],
  })
  const head = headOf('/admin/activities/push', {
    'x-api-key': adminKey.key,
    'content-type': 'application/x-ndjson',
    'transfer-encoding': 'chunked',
  })
  const line = (): string => {
    const text = `${JSON.stringify(element())}\n`
    return `${text.length.toString(16)}\r\n${text}\r\n`
  }
  const [slow, silent] = [openRawSocket(t, url), openRawSocket(t, url)]
  silent.write(head + line())
  slow.write(head + line())
  // Lasts for two timeouts: until two paused streams were ended, one after the other.
  const feeding = setInterval(() => slow.write(line()), 100)
  t.after(() => clearInterval(feeding))
  assert.equal(await silent.status(), 503)
  await silent.ended()
  const third = openRawSocket(t, url)
  third.write(head + line())
  assert.equal(await third.status(), 503)
  clearInterval(feeding)
  slow.write('0\r\n\r\n')
  assert.equal(await slow.status(), 200)
  assert.match(slow.text, /"refused_count":0/)
})

for (const [side, path] of [
  ['platform', '/admin/attributes/1'],
  ['operator', '/admin/permission/check?brand=1'],
] as const)
  test(`${side}: a stream that is refused before its end is dropped, and the connection serves the next request or is closed`, async (t) => {
    const url = await start(t, side)
    const lines = (bytes: number): string => `wrong,names\n${'1,2\n'.repeat(bytes / 4)}`
    const refuse = (body: string) => {
      const socket = openRawSocket(t, url)
      const head = { 'x-api-key': adminKey.key, 'content-type': 'text/csv', 'content-length': body.length }
      socket.write(headOf(path, head) + body)
      return socket
    }
    const [short, long] = [refuse(lines(MiB - 1_000)), refuse(lines(4 * MiB))]
    for (const socket of [short, long]) {
      assert.equal(await socket.status(), 400)
      assert.match(socket.text, /user_id/)
    }
    short.write('GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n')
    await until(() => short.text.includes('{"ok":true}'), { awaited: 'the answer to the next request' })
    await long.ended()
    assert.deepEqual(long.text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400'])
  })

test('connections beyond the limit are closed at once and logged', async (t) => {
  const refused = event('connections.refused')
  const { url } = await startOperator(t, { listen: { connections: 2 } })
  const first = openRawSocket(t, url)
  first.write('GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n')
  await first.status()
  const second = openRawSocket(t, url)
  second.write('GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n')
  await second.status()
  await openRawSocket(t, url).ended()
  assert.deepEqual(await refused, { side: 'operator', count: 1 })
  assert.equal(first.closed || second.closed, false)
})

test('a clock that is set forward ends no request whose body is arriving', async (t) => {
  const sweep = catchSweeps(t)
  const { url } = await startOperator(t, {})
  const socket = openRawSocket(t, url)
  const body = JSON.stringify(element())
  socket.write(`${headOf('/channels/push/single', { 'x-api-key': keys.one.key, 'content-length': body.length })}{`)
  // This answer shows that the first request was received.
  assert.equal((await post(`${url}/channels/push/single`, element())).status, 200)
  const real = clock.now
  t.mock.method(clock, 'now', () => real() + 3_600_000)
  sweep()
  socket.write(body.slice(1))
  assert.equal(await socket.status(), 200)
})
