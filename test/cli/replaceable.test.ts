// A side is replaced while requests are in progress, and others arrive.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import test, { type TestContext } from 'node:test'
import type { Service } from '../../src/base/http/service.ts'
import { createReplaceable } from '../../src/tools/cli/replaceable.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { until } from '../support/wait.ts'

/** A side whose answers the test writes, except those for /healthz. */
function sideOf(name: string, log: string[]) {
  const open: ServerResponse[] = []
  const handler: Service['handler'] = ({ url }, response) => {
    if (url === '/healthz') return void response.end(name)
    if (url === '/stream') response.setHeader('content-type', 'text/event-stream').flushHeaders()
    open.push(response)
  }
  const stop = async (): Promise<void> => {
    log.push(`${name} stops`)
    for (const response of open) response.end()
  }
  return { open, service: { handler, stop } as unknown as Service }
}

async function served(t: TestContext) {
  const log: string[] = []
  const [old, next] = [sideOf('old', log), sideOf('next', log)]
  const replaceable = createReplaceable(old.service)
  const server = createServer(replaceable.handlerOf(({ handler }) => handler))
  const { url, port } = await listenLocally(t, server)
  const ask = async (path: string): Promise<string> =>
    (await fetch(`${url}${path}`, { headers: { connection: 'close' } })).text()
  return { log, old, next, replaceable, ask, port }
}

test('requests in progress are answered before the side stops; those that arrive wait for the next side', async (t) => {
  const { log, old, next, replaceable, ask } = await served(t)
  const first = ask('/first')
  await until(() => old.open.length === 1, { awaited: 'the request in progress' })
  const replaced = replaceable.replace(async () => {
    log.push('next starts')
    return next.service
  }, 60_000)
  const second = ask('/second')
  assert.equal(await ask('/healthz'), 'old', 'the process lives')
  assert.deepEqual(log, [])
  old.open[0]?.end('old')
  assert.equal(await first, 'old')
  await replaced
  assert.deepEqual(log, ['old stops', 'next starts'])
  await until(() => next.open.length === 1, { awaited: 'the request that waited' })
  next.open[0]?.end('next')
  assert.equal(await second, 'next')
})

test('a stream of events is not awaited, and a request that waits and goes away is not handled', async (t) => {
  const { old, next, replaceable, ask, port } = await served(t)
  const stream = ask('/stream')
  await until(() => old.open.length === 1, { awaited: 'the stream' })
  const started = Promise.withResolvers<void>()
  const replaced = replaceable.replace(async () => {
    await started.promise
    return next.service
  }, 60_000)
  assert.equal(await stream, '', 'the stop ended it')
  const gone = get({ port, host: '127.0.0.1', path: '/gone' })
  const closed = once(gone, 'error')
  await ask('/healthz')
  gone.destroy()
  await closed
  assert.equal(await ask('/healthz'), 'old')
  started.resolve()
  await replaced
  assert.equal(await ask('/healthz'), 'next')
  assert.deepEqual(next.open, [])
})

test('if no other side starts, the requests that waited are answered by the stopped one', async (t) => {
  const { old, replaceable, ask } = await served(t)
  const started = Promise.withResolvers<never>()
  const replaced = replaceable.replace(() => started.promise, 60_000)
  const waiting = ask('/waiting')
  await ask('/healthz')
  started.reject(new Error('the store is away'))
  await assert.rejects(replaced, /the store is away/)
  await until(() => old.open.length === 1, { awaited: 'the request that waited' })
  old.open[0]?.end('stopped')
  assert.equal(await waiting, 'stopped')
})
