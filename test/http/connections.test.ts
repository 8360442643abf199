// What one address can hold, and whose address counts.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import test from 'node:test'
import { addressOf, createIsInside, trustConnection } from '../../src/base/http/address.ts'
import { listen } from '../../src/base/http/http.ts'
import { openRawSocket } from '../support/raw-socket.ts'
import { stoppableClock } from '../support/set-clock.ts'
import { get, keys, startOperator } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const ask = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`

test('one address has a limited number of connections; when they close, it is served again', async (t) => {
  const { url } = await startOperator(t, { listen: { connectionsPerAddress: 3 } })
  const refused = event('connections.refused')
  const held = Array.from({ length: 3 }, () => openRawSocket(t, url))
  for (const socket of held) socket.write(ask('/healthz'))
  for (const socket of held) assert.equal(await socket.status(), 200)
  await openRawSocket(t, url).ended()
  await refused
  for (const { socket } of held) socket.destroy()
  await until(
    () =>
      get(`${url}/healthz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    {
      awaited: 'the address is served again',
    },
  )
})

test('a trusted proxy has no limit of connections, and the limits of wrong keys count the address that it names', async (t) => {
  // The limit of guesses allows some each second: with a stopped clock, a slow machine allows no more.
  const time = stoppableClock(t)
  const { url } = await startOperator(t, { listen: { connectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] } })
  time.stop()
  const guess = async (client: string, key: string) => {
    const headers = { 'x-forwarded-for': `203.0.113.99, ${client}`, 'x-api-key': key }
    const answer = await fetch(`${url}/channels/push/single`, { method: 'POST', headers, body: '{}' })
    await answer.arrayBuffer()
    return answer.status
  }
  const guesses = await Promise.all(Array.from({ length: 200 }, (_, i) => guess('192.0.2.1', `guess-${i}`)))
  assert.ok(guesses.includes(503))
  assert.equal(await guess('192.0.2.1', keys.one.key), 503)
  assert.equal(await guess('192.0.2.2', keys.one.key), 400, 'another client of the proxy')
})

test('X-Forwarded-For is read from the right, through trusted proxies only', () => {
  const isProxy = createIsInside(['10.0.0.0/8', '2001:db8::/32', '::ffff:127.0.0.1'])
  const addressFor = (remoteAddress: string, forwarded?: string) => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
    if (isProxy(remoteAddress)) trustConnection(socket, isProxy)
    return addressOf({ socket, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } })
  }
  assert.equal(addressFor('192.0.2.1', '203.0.113.1'), '192.0.2.1')
  assert.equal(addressFor('10.0.0.1', '203.0.113.1, 192.0.2.1'), '192.0.2.1')
  assert.equal(addressFor('10.0.0.1', '203.0.113.1, 192.0.2.1, 10.0.0.2'), '192.0.2.1')
  assert.equal(addressFor('2001:db8::1', '192.0.2.1'), '192.0.2.1')
  assert.equal(addressFor('10.0.0.1', 'forged'), '10.0.0.1')
  assert.equal(addressFor('10.0.0.1'), '10.0.0.1')
})

test('an idle connection that never showed a right key is closed after five seconds; another stays open', async (t) => {
  const { url } = await startOperator(t)
  const [stranger, caller] = [openRawSocket(t, url), openRawSocket(t, url)]
  stranger.write(ask('/healthz'))
  caller.write(ask('/admin/summary', 'x-api-key: the-key-of-the-admin\r\n'))
  assert.deepEqual([await stranger.status(), await caller.status()], [200, 200])
  await stranger.ended()
  assert.equal(caller.closed, false)
})

test('a stop ends when the last request has its answer, also if its connection stays open for more', async (t) => {
  const { promise: asked, resolve } = Promise.withResolvers<ServerResponse>()
  const server = await listen('operator', (_, response) => resolve(response), { trustedProxies: ['127.0.0.1'] })
  const proxy = openRawSocket(t, server.url)
  proxy.write(ask('/'))
  const response = await asked
  const stopped = server.close(60_000)
  response.end('done')
  assert.equal(await proxy.status(), 200)
  await proxy.ended()
  await stopped
})
