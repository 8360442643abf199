// A client that sends many requests and reads no answer: what it can make the server keep in memory.

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import test, { type TestContext } from 'node:test'
import express from 'express'
import Fastify from 'fastify'
import { createHttp, listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { limitUnanswered } from '../../src/base/http/unanswered.ts'
import { startFakeOperator } from '../../src/tools/fake/fake-operator.ts'
import { startStandIns } from '../../src/tools/stand-ins/all.ts'
import { startControl } from '../../src/tools/stand-ins/control.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { openRawSocket } from '../support/raw-socket.ts'
import { openOperator, startOperator, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const secret = 'the-secret-of-the-pipelining-tests-long-enough'
const path = '/openapi.json'

/** All requests are in one chunk, so the server reads all of them before it answers one. */
async function assertClosed(t: TestContext, url: string, requestPath: string): Promise<void> {
  const socket = openRawSocket(t, url)
  const host = new URL(url).host
  socket.write(`GET ${requestPath} HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(50))
  await socket.ended()
  const answers = socket.text.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0
  assert.ok(answers <= 4, `${answers} of 50 pipelined requests were answered at ${requestPath}`)
  const one = await fetch(url + requestPath)
  await one.arrayBuffer()
  assert.ok(one.status < 500, 'other connections are served')
}

test('both sides close a connection with more than four unanswered requests, on every path', async (t) => {
  const operator = await startOperator(t, { app: { secrets: [secret] } })
  const platform = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: witness() }],
  })
  for (const each of [path, '/healthz', '/admin/summary', '/app/inbox', '/channels/push/single', '/nothing'])
    await assertClosed(t, operator.url, each)
  for (const each of [path, '/healthz', '/v1/integration/message/status', '/nothing'])
    await assertClosed(t, platform.url, each)
})

test('four pipelined requests are answered in their order', async (t) => {
  const { url } = await startOperator(t)
  const socket = openRawSocket(t, url)
  for (const each of ['/healthz', '/nothing', '/healthz', '/admin/summary'])
    socket.write(`GET ${each} HTTP/1.1\r\nhost: test\r\n\r\n`)
  await until(() => socket.text.match(/HTTP\/1\.1 \d{3}/g)?.length === 4, { awaited: 'four answers' })
  assert.deepEqual(socket.text.match(/HTTP\/1\.1 \d{3}/g), [
    'HTTP/1.1 200',
    'HTTP/1.1 404',
    'HTTP/1.1 200',
    'HTTP/1.1 401',
  ])
})

test('a mounted handler closes such a connection too: node:http, Express and Fastify', async (t) => {
  const operator = await openOperator(t)
  const whole = chain(operator.handler, operator.admin.handler)
  const app = express()
  app.use('/bellwire', operator.handler, operator.admin.handler)
  const fastify = Fastify()
  await fastify.register(operator.admin.fastify, { prefix: '/bellwire' })
  await fastify.register(operator.fastify, { prefix: '/bellwire' })
  t.after(() => fastify.close())
  await assertClosed(t, await httpUrl(t, whole), path)
  await assertClosed(t, await httpUrl(t, whole), '/nothing')
  await assertClosed(t, await httpUrl(t, app), `/bellwire${path}`)
  await assertClosed(t, await fastify.listen({ port: 0, host: '127.0.0.1' }), `/bellwire${path}`)
})

test('a fake and the control API of the stand-ins close such a connection', async (t) => {
  const fake = await startFakeOperator({ host: '127.0.0.1', port: 0, apiKey: 'a-key-of-the-fake', brands: ['1'] })
  t.after(() => fake.close())
  await assertClosed(t, fake.url, '/fake/arrivals')
  const standIns = await startStandIns()
  t.after(() => standIns.close())
  const control = await startControl(standIns)
  t.after(() => control.close())
  await assertClosed(t, control.url, '/arrivals')
  await assertClosed(t, standIns['web-push'].url, '/wpush/v2/none')
})

test('the reservations of all requests of a connection end with the connection', async (t) => {
  let open = 0
  const url = await httpUrl(
    t,
    limitUnanswered((request, response) => {
      open++
      response.once('close', () => open--)
      request.resume()
    }),
  )
  const socket = openRawSocket(t, url)
  socket.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n'.repeat(3))
  await until(() => open === 3, { awaited: 'three requests arrive' })
  socket.socket.destroy()
  await until(() => open === 0, { awaited: 'the reservations end' })
})

test('a user has at most four requests in flight, on any number of connections; other users are served', async (t) => {
  const { url } = await startOperator(t, { app: { secrets: [secret] } })
  const token = async (userId: string) => `Bearer ${await createSubscriberToken({ secret, brand: '1', userId })}`
  const [mallory, other] = [await token('mallory'), await token('other')]
  const body = 'content-type: application/json\r\ncontent-length: 100\r\n'
  const open = () => {
    const socket = openRawSocket(t, url)
    socket.write(`POST /app/inbox/mark HTTP/1.1\r\nhost: test\r\nauthorization: ${mallory}\r\n${body}\r\n`)
    return socket
  }
  const sockets = Array.from({ length: 20 }, open)
  await until(() => sockets.filter(({ text }) => text.startsWith('HTTP/1.1 429')).length === 16, {
    awaited: '16 of 20 requests are refused',
  })
  assert.match(sockets.find(({ text }) => text !== '')?.text ?? '', /retry-after: 1\r\n/i)
  const inbox = async (authorization: string) =>
    (await fetch(`${url}/app/inbox`, { headers: { authorization } })).status
  assert.equal(await inbox(mallory), 429)
  assert.equal(await inbox(other), 200)
  for (const { socket } of sockets) socket.destroy()
  await until(async () => (await inbox(mallory)) === 200, { awaited: 'the user is served again' })
})

test("answers that are not read are limited in bytes; users' answers have a separate limit", async (t) => {
  const large = 'x'.repeat(8 * 1024 * 1024)
  const [url = '', other] = await Promise.all(
    (['operator', 'platform'] as const).map(async (side) => {
      const app = createHttp(side, 1024)
      app.get('/app/large', async () => large)
      app.get('/large', async () => large)
      await app.ready()
      const listening = await listen(side, app.routing)
      t.after(async () => {
        await app.close()
        await listening.close(100)
      })
      return listening.url
    }),
  )
  const sockets = Array.from({ length: 20 }, () => {
    const socket = openRawSocket(t, url)
    socket.socket.pause()
    socket.write('GET /app/large HTTP/1.1\r\nhost: test\r\n\r\n')
    return socket
  })
  // 64 MiB are eight answers.
  await until(async () => (await fetch(`${url}/app/large`)).status === 503, { awaited: 'the limit is reached' })
  assert.equal((await fetch(`${other}/app/large`)).status, 503, 'the servers of a process share the limit')
  assert.equal((await (await fetch(`${url}/large`)).text()).length, large.length)
  for (const { socket } of sockets) socket.destroy()
  await until(async () => (await fetch(`${url}/app/large`)).status === 200, { awaited: 'users are served again' })
})

test('from another machine the API documents need a key; under a foreign host name too', async (t) => {
  const { url } = await startOperator(t)
  for (const each of [path, '/asyncapi.json', '/docs/']) {
    const foreign = async (headers: string) => {
      const socket = openRawSocket(t, url)
      socket.write(`GET ${each} HTTP/1.1\r\nhost: bellwire.example\r\nconnection: close\r\n${headers}\r\n`)
      return socket.status()
    }
    assert.equal(await foreign(''), 401, each)
    assert.equal(await foreign('x-api-key: the-key-of-the-admin\r\n'), 200, each)
    assert.equal((await fetch(url + each)).status, 200, each)
  }
})

async function httpUrl(t: TestContext, handler: RequestListener): Promise<string> {
  const server = createServer(handler)
  return (await listenLocally(t, server)).url
}
