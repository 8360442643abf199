// Bodies that arrive in chunks of one byte. Kept apart, each chunk would need a hundred times its size in memory.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { createServer, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createHttp, listen } from '../../src/base/http/http.ts'
import { createCaller } from '../../src/base/http-client/caller.ts'
import { Stream } from '../../src/base/http2/stream.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { openRawSocket, type RawSocket } from '../support/raw-socket.ts'
import { until } from '../support/wait.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const MiB = 1024 * 1024
const count = 64 * 1024
const oneByteChunks = Buffer.from('1\r\n \r\n'.repeat(count))
/** As objects of their own, the chunks are 7 to 12 MiB. */
const mostBytes = 3 * MiB

/** The bytes that are in use after a garbage collection. */
function memoryInUse(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function assertSmall(arrived: () => boolean | undefined, send: () => void): Promise<void> {
  const before = memoryInUse()
  send()
  await until(arrived, { awaited: 'the chunks arrive', withinMs: 60_000 })
  const grown = memoryInUse() - before
  assert.ok(grown < mostBytes, `${Math.round(grown / 1024)} KiB are in use for ${count / 1024} KiB of a body`)
}

async function start(t: TestContext) {
  let latest: IncomingMessage | undefined
  const app = createHttp('operator', MiB)
  const onRequest = async ({ raw }: { raw: IncomingMessage }) => {
    latest = raw
  }
  app.post('/body', { onRequest }, async ({ body }) => ({ bytes: (body as Buffer).length }))
  app.get('/stream', { onRequest }, (_request, reply) => {
    reply.hijack()
    reply.raw.flushHeaders()
  })
  await app.ready()
  const listening = await listen('operator', app.routing)
  t.after(async () => {
    await app.close()
    await listening.close(100)
  })
  return { url: listening.url, arrived: () => latest && latest.socket.bytesRead > oneByteChunks.length }
}

/** @returns the connection, after the server has received all chunks */
async function sendSmallChunks(t: TestContext, request: string): Promise<RawSocket> {
  const { url, arrived } = await start(t)
  const socket = openRawSocket(t, url)
  await assertSmall(arrived, () => {
    socket.write(`${request} HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n`)
    socket.write(oneByteChunks)
  })
  return socket
}

test('a request body in chunks of one byte is kept in the memory of its bytes', async (t) => {
  const socket = await sendSmallChunks(t, 'POST /body')
  socket.write('0\r\n\r\n')
  assert.equal(await socket.status(), 200)
  await until(() => socket.text.endsWith(`{"bytes":${count}}`), { awaited: 'the answer' })
})

test('the body of a GET is dropped as it arrives, also while the answer stays open', async (t) => {
  const socket = await sendSmallChunks(t, 'GET /stream')
  assert.equal(await socket.status(), 200)
})

test('an answer in chunks of one byte is kept in the memory of its bytes', async (t) => {
  let answering: Socket | undefined
  const server = createServer((socket) => {
    answering = socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      socket.write(oneByteChunks)
    })
  })
  const { url } = await listenLocally(t, server)
  let asking: Socket | undefined
  const onRequest = (message: unknown): void => {
    asking = (message as { readonly socket: Socket }).socket
  }
  subscribe('undici:client:sendHeaders', onRequest)
  t.after(() => unsubscribe('undici:client:sendHeaders', onRequest))
  const caller = createCaller({ url })
  t.after(() => caller.destroy())
  let answer: ReturnType<typeof caller.call> | undefined
  await assertSmall(
    () => asking && asking.bytesRead > oneByteChunks.length,
    () => {
      answer = caller.call({ path: '/', most: MiB })
    },
  )
  answering?.write('0\r\n\r\n')
  const answered = await answer
  assert.ok(answered && 'body' in answered)
  assert.equal(answered.body.length, count)
})

test('an answer of HTTP/2 in frames of one byte is kept in the memory of its bytes', async () => {
  const stream = new Stream(1, 0, 0, () => {})
  assert.equal(stream.addHeaders([':status', '200'], false), undefined)
  const frame = Buffer.alloc(1, ' ')
  await assertSmall(
    () => true,
    () => {
      for (let i = 0; i < count; i++) assert.equal(stream.addData(frame), undefined)
    },
  )
  const answer = stream.finish()
  assert.ok(typeof answer === 'object' && 'body' in answer)
  assert.equal(answer.body.length, count)
})
