// Batches wait as they came while the push services have their hands full.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { operatorLimits } from '../../src/operator/options.ts'
import { sendRoutes } from '../../src/operator/send-routes.ts'
import { createHttp, listen } from '../../src/runtime/http.ts'
import { accepted, device, deviceBook, witnessService } from '../support/push-services.ts'
import { element, keys, post, startOperator, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const batch = '/channels/push/batch'

/** The send endpoints before a path whose room is to be waited for. */
async function crowded(t: TestContext) {
  const room = Promise.withResolvers<void>()
  const asked: number[] = []
  const provider = witness()
  const push = {
    send: provider.send,
    room(bytes: number) {
      asked.push(bytes)
      return room.promise
    },
  }
  const stopping = new AbortController()
  const app = createHttp('operator', operatorLimits.bodyBytes)
  sendRoutes(app, { keys: [keys.both], paths: { push }, limits: operatorLimits, signal: stopping.signal })
  await app.ready()
  const { url, close } = await listen('operator', app.routing)
  t.after(() => close(100))
  const body = JSON.stringify([element(), element()])
  const waiting = post(url + batch, body)
  await until(() => asked.length > 0, { what: 'it asks for room' })
  assert.deepEqual(asked, [Buffer.byteLength(body)])
  return { url, asked, received: provider.received, waiting, stopping, makeRoom: () => room.resolve() }
}

test('a batch is taken apart when its path has room, and a single send does not ask', async (t) => {
  const s = await crowded(t)
  assert.equal((await post(`${s.url}/channels/push/single`, element())).status, 200)
  assert.deepEqual([s.asked.length, s.received.length], [1, 1])
  s.makeRoom()
  assert.equal((await s.waiting).body.successful.length, 2)
})

test('a batch that waited until the server stopped is answered 503, and nothing of it is begun', async (t) => {
  const s = await crowded(t)
  s.stopping.abort()
  s.makeRoom()
  const { status, body } = await s.waiting
  assert.equal(status, 503)
  assert.match(body.error, /stopping/)
  assert.equal(s.received.length, 0)
})

test('a batch that found no room goes on after a moment: a service that hangs is not the trouble of one that works', async (t) => {
  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  const hangs = witnessService('apns', () => gate.promise.then(() => accepted), { concurrency: 1 })
  const works = witnessService('fcm_token', undefined, { concurrency: 1 })
  const source = deviceBook([device(), device({ userId: '2002', kind: 'fcm_token', token: 'f-1' })])
  const { url } = await startOperator(t, { push: { devices: { source, services: [hangs, works] } } })
  const hanging = post(url + batch, [element(), element()])
  await until(() => hangs.received.length === 1, { what: 'the first push' })
  const { body } = await post(url + batch, [element({ user_id: '2002' })])
  assert.equal(body.successful.length, 1)
  gate.resolve()
  assert.equal((await hanging).status, 200)
})
