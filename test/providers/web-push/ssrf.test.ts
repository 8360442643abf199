// Endpoints are user input, so a send must not reach internal servers. The tests count the connections of real servers.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type LookupFunction } from 'node:net'
import test, { type TestContext } from 'node:test'
import { Pool } from 'undici'
import { exchange } from '../../../src/base/http-client/exchange.ts'
import { type GuardedConnectOptions, guardedConnect } from '../../../src/subjects/providers/web-push/guarded-connect.ts'
import { makeVapidKeys } from '../../../src/subjects/providers/web-push/vapid.ts'
import { webPush } from '../../../src/subjects/providers/web-push/web-push.ts'
import { makeCertificate } from '../../../src/tools/stand-ins/certificate.ts'
import { startWebPushStandIn } from '../../../src/tools/stand-ins/web-push.ts'
import { pushTo } from '../../suites/push-service.ts'
import { contextOf } from '../../support/context.ts'
import { listenLocally } from '../../support/listen-locally.ts'
import { deviceOf, subject } from './fixture.ts'

/** A server on an internal address, which must not be reached. */
async function startInternalServer(
  t: TestContext,
): Promise<{ readonly port: number; readonly connections: () => number }> {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  const { port } = await listenLocally(t, server)
  return { port, connections: () => connections }
}

/** A name server with a list of answers, one for each look-up. The last answer is repeated. */
function nameServer(...answers: readonly (readonly string[])[]): { readonly lookup: LookupFunction; asked: number } {
  const server = {
    asked: 0,
    lookup: ((_hostname, _options, callback) => {
      const addresses = answers[Math.min(server.asked++, answers.length - 1)] as readonly string[]
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    }) as LookupFunction,
  }
  return server
}

async function deviceAt(t: TestContext, origin: string) {
  const standIn = await startWebPushStandIn({ origin })
  t.after(() => standIn.close())
  return deviceOf(standIn.subscribe())
}

test('a name with an internal address is not connected to, in any notation of the address', async (t) => {
  const { port, connections } = await startInternalServer(t)
  const host = `push.example.test:${port}`
  const device = await deviceAt(t, `https://${host}`)
  for (const addresses of [
    ['127.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['::1'],
    ['0.0.0.0'],
    ['169.254.169.254'],
    ['8.8.8.8', '127.0.0.1'],
  ]) {
    const names = nameServer(addresses)
    const service = webPush({ ...makeVapidKeys(), subject, hosts: [host], lookup: names.lookup })
    const answer = await service.send(pushTo(device), contextOf())
    await service.close?.()
    assert.equal(names.asked, 1)
    assert.partialDeepStrictEqual(answer, {
      category: 'fatal',
      reason: 'unavailable',
      blame: 'provider',
      concerns: 'counterpart',
      rule: 'web-push forbidden address',
    })
    assert.match(
      answer.category === 'fatal' ? answer.error : '',
      /push\.example\.test has the address .* in this machine/,
    )
    assert.ok(!('uncertain' in answer))
  }
  assert.equal(connections(), 0)
})

test('the addresses of the system’s resolver are checked too: localhost is not connected to', async (t) => {
  const { port, connections } = await startInternalServer(t)
  const pool = new Pool(`https://localhost:${port}`, { connect: guardedConnect() })
  t.after(() => pool.destroy())
  const answer = await post(pool)
  assert.ok('lost' in answer && answer.lost.code === 'FORBIDDEN_ADDRESS' && !answer.written)
  assert.equal(connections(), 0)
})

test('guardedConnect() refuses an IP address of this machine, in any notation', async (t) => {
  const { port, connections } = await startInternalServer(t)
  for (const origin of [`https://127.0.0.1:${port}`, `https://[::ffff:7f00:1]:${port}`, `https://2130706433:${port}`]) {
    const pool = new Pool(origin, { connect: guardedConnect() })
    const answer = await post(pool)
    await pool.destroy()
    assert.ok('lost' in answer && answer.lost.code === 'FORBIDDEN_ADDRESS', origin)
  }
  assert.equal(connections(), 0)
})

test('the name of a forbidden endpoint is not even looked up', async (t) => {
  const { port, connections } = await startInternalServer(t)
  const names = nameServer(['127.0.0.1'])
  const service = webPush({ ...makeVapidKeys(), subject, lookup: names.lookup })
  t.after(() => service.close?.())
  for (const origin of [`http://127.0.0.1:${port}`, `https://127.0.0.1:${port}`, `https://localhost:${port}`]) {
    const answer = await service.send(pushTo(await deviceAt(t, origin)), contextOf())
    assert.partialDeepStrictEqual(answer, {
      category: 'failed',
      reason: 'rejected',
      rule: 'web-push endpoint not allowed',
    })
    // The device is kept, because a wrong setting may be the cause.
    assert.equal(answer.token, undefined)
  }
  assert.deepEqual([connections(), names.asked], [0, 0])
})

// In these tests 127.0.0.1 is a public address, and 127.0.0.9 an internal one.
const isPublic = (address: string): boolean => address === '127.0.0.1'

test('the connection uses the address that was checked, over TLS, without another look-up', async (t) => {
  const { url, ca, requests } = await pushServer(t)
  const names = nameServer(['127.0.0.1'], ['127.0.0.9'])
  const pool = poolTo(t, url, { lookup: names.lookup, allowed: isPublic, ca })
  const answers = await Promise.all([post(pool), post(pool), post(pool)])
  assert.deepEqual(
    answers.map((answer) => 'status' in answer && answer.status),
    [201, 201, 201],
  )
  assert.deepEqual([names.asked, requests()], [1, 3])
})

test('a name with an internal address at its second look-up (DNS rebinding) is not connected to', async (t) => {
  const { url, ca, requests, cut } = await pushServer(t)
  const names = nameServer(['127.0.0.1'], ['127.0.0.9'])
  const pool = poolTo(t, url, { lookup: names.lookup, allowed: isPublic, ca })
  assert.ok('status' in (await post(pool)))
  const disconnected = once(pool, 'disconnect')
  cut()
  await disconnected
  const answer = await post(pool)
  assert.ok('lost' in answer && answer.lost.code === 'FORBIDDEN_ADDRESS' && !answer.written)
  assert.deepEqual([names.asked, requests()], [2, 1])
})

test('a name without an address, and a failed look-up, are ordinary connection errors', async (t) => {
  for (const lookup of [
    nameServer([]).lookup,
    ((_host, _options, callback) =>
      callback(Object.assign(new Error('no name server'), { code: 'EAI_AGAIN' }), '')) as LookupFunction,
  ]) {
    const answer = await post(poolTo(t, 'https://push.example.test', { lookup }))
    assert.ok('lost' in answer && !answer.written)
    assert.match(answer.lost.code ?? '', /ENOTFOUND|EAI_AGAIN/)
  }
})

function poolTo(t: TestContext, origin: string, options: GuardedConnectOptions): Pool {
  const pool = new Pool(origin, { connections: 1, connect: guardedConnect(options) })
  t.after(() => pool.destroy())
  return pool
}

function post(pool: Pool) {
  const body = Buffer.from('x')
  return exchange(pool, {
    method: 'POST',
    path: '/x',
    headers: {},
    body,
    most: 100,
    signal: AbortSignal.timeout(10_000),
  })
}

/** A push service named push.example.test. */
async function pushServer(t: TestContext) {
  const { cert, key } = makeCertificate('push.example.test')
  let requests = 0
  const server = createHttpsServer({ key, cert }, (request, response) => {
    requests++
    request.resume().on('end', () => response.writeHead(201).end())
  })
  const { port, cut } = await listenLocally(t, server)
  return { url: `https://push.example.test:${port}`, ca: cert, requests: () => requests, cut }
}
