// What a caller without a secret can do at the route of delivery statuses: the signature covers the body, so the headers decide first.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import { messageStatusPath } from '../../src/contract/endpoints.ts'
import { headOf, openRawSocket } from '../support/raw-socket.ts'
import { adminKey, get, post, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { report, secretOf } from './reporting.ts'

const MiB = 1024 * 1024
const devices = { name: 'operator', key: 'the-key-of-the-device-links', scopes: ['devices'], brands: ['1'] } as const
const lane = (brand: string, secrets: readonly string[]) =>
  ({ brand, channel: 'push', mode: 'batch', provider: witness(), status: { secrets } }) as const

const start = (t: TestContext, secrets: readonly string[] = [secretOf('one')]) =>
  startPlatform(t, { keys: [adminKey, devices], lanes: [lane('1', secrets), lane('2', [secretOf('two')])] })

const now = (): string => String(Math.floor(Date.now() / 1_000))
const junk = `v1,${Buffer.alloc(32).toString('base64')}`
const formed = () => ({ 'webhook-id': 'x', 'webhook-timestamp': now(), 'webhook-signature': junk })

test('a call that no secret can have signed is refused before its body is sent', async (t) => {
  const { url } = await start(t)
  const refused: readonly (readonly [path: string, headers: object])[] = [
    [messageStatusPath, {}],
    [messageStatusPath, { ...formed(), 'webhook-timestamp': '1' }],
    [messageStatusPath, { ...formed(), 'webhook-timestamp': 'now' }],
    [messageStatusPath, { ...formed(), 'webhook-signature': 'v1,eA==' }],
    [messageStatusPath, { ...formed(), 'webhook-signature': junk.replace('v1', 'v1a') }],
    [`${messageStatusPath}?brand=3`, formed()],
  ]
  for (const [path, headers] of refused) {
    const socket = openRawSocket(t, url)
    socket.write(headOf(path, { ...headers, 'content-length': 4 * MiB }))
    assert.equal(await socket.status(), 401, JSON.stringify([path, headers]))
  }
})

test('a platform without a webhook secret has no such route', async (t) => {
  const { url } = await startPlatform(t, { lanes: [{ ...lane('1', []), status: {} }] })
  const socket = openRawSocket(t, url)
  socket.write(headOf(messageStatusPath, { ...formed(), 'content-length': 4 * MiB }))
  assert.equal(await socket.status(), 404)
})

test('bodies of unsigned calls cannot block device links', async (t) => {
  const { url } = await startPlatform(t, {
    keys: [adminKey, devices],
    lanes: [lane('1', [secretOf('one')])],
    bodyBytes: 4 * MiB,
    bodyBytesInFlight: 16 * MiB,
  })
  const sockets = Array.from({ length: 12 }, () => openRawSocket(t, url))
  for (const socket of sockets) {
    socket.write(headOf(messageStatusPath, { ...formed(), 'content-length': 4 * MiB }))
    socket.write(Buffer.alloc(4 * MiB - 1, 0x20))
  }
  // The share has room for one body.
  await until(() => sockets.filter(({ text }) => text.startsWith('HTTP/1.1 503')).length >= 11, {
    awaited: 'the share of the route is used up',
  })
  const link = { user_id: '1', tokens: [], timestamp: new Date().toISOString(), origin: 'test' }
  assert.equal((await post(`${url}/v1/integration/user/device/link`, link, devices.key)).status, 200)
})

test('bodies of unsigned calls from one address cannot block the signed calls of another', async (t) => {
  const { url } = await start(t)
  const sockets = Array.from({ length: 12 }, () => openRawSocket(t, url, '127.0.0.2'))
  for (const socket of sockets) {
    socket.write(headOf(messageStatusPath, { ...formed(), 'content-length': 4 * MiB }))
    socket.write(Buffer.alloc(4 * MiB - 1, 0x20))
  }
  await until(() => sockets.filter(({ text }) => text.startsWith('HTTP/1.1 503')).length === 10, {
    awaited: 'two of twelve bodies have room',
  })
  const body = { push_id: 'unknown', status: 'clicked', timestamp: '2026-11-25T10:00:00Z' }
  assert.equal((await report(url, body, { secrets: [secretOf('one')] })).status, 200)
})

test('a brand in the address selects the secrets that are tried', async (t) => {
  const { url } = await start(t)
  const body = { push_id: 'unknown', status: 'clicked', timestamp: '2026-11-25T10:00:00Z' }
  const from = async (secret: string, query: string) =>
    (await report(url, body, { secrets: [secretOf(secret)], query })).status
  assert.deepEqual(
    [
      await from('one', ''),
      await from('one', '?brand=1'),
      await from('two', '?brand=2'),
      await from('two', '?brand=1'),
    ],
    [200, 200, 200, 401],
  )
})

test('wrong signatures of an address are limited; an operator who signed rightly from there is still accepted', async (t) => {
  let time = Date.now()
  t.mock.method(clock, 'now', () => time)
  t.mock.method(clock, 'monotonic', () => time)
  const { url } = await start(t)
  const body = { push_id: 'unknown', status: 'clicked', timestamp: '2026-11-25T10:00:00Z' }
  const wrong = async () => (await report(url, body, { secrets: [secretOf('guess')] })).status
  const first = await Promise.all(Array.from({ length: 150 }, wrong))
  // Each call is a guess at two secrets, and costs two hashes of its body.
  assert.deepEqual([first.filter((status) => status === 401).length, first.includes(503)], [50, true])
  const waiting = openRawSocket(t, url)
  waiting.write(headOf(messageStatusPath, { ...formed(), 'content-length': 4 * MiB }))
  assert.equal(await waiting.status(), 503, 'before the body')
  const right = () => report(url, body, { secrets: [secretOf('one')] })
  assert.equal((await right()).status, 503, 'a right signature looks like a wrong one')
  time += 1_000
  assert.equal((await right()).status, 200)
  await Promise.all(Array.from({ length: 150 }, wrong))
  assert.equal((await right()).status, 200)
  assert.equal((await get(`${url}/healthz`)).status, 200)
})
