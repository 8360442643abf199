// Batches wait as they came while the push services have their hands full.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { on } from '../../src/runtime/events.ts'
import { accepted, device, deviceBook, witnessService } from '../support/push-services.ts'
import { element, post, startOperator } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const batch = '/channels/push/batch'

/** An operator whose service takes one push at a time and holds the first until `free()`; a batch of two is with it. */
async function busy(t: TestContext, limits: { answerBudgetMs?: number } = {}) {
  const gate = Promise.withResolvers<void>()
  const apns = witnessService('apns', () => gate.promise.then(() => accepted), { concurrency: 1 })
  const side = await startOperator(t, {
    push: { devices: { source: deviceBook([device()]), services: [apns] } },
    limits,
  })
  const taken: number[] = []
  t.after(on('message.received', ({ count }) => void taken.push(count)))
  t.after(() => gate.resolve())
  const first = post(side.url + batch, [element(), element()])
  await until(() => apns.received.length === 1, { what: 'the first push' })
  return { ...side, apns, taken, first, free: () => gate.resolve() }
}

test('a batch is taken apart when there is room, and a single send does not wait', async (t) => {
  const s = await busy(t)
  const later = [3, 4].map((size) =>
    post(
      s.url + batch,
      Array.from({ length: size }, () => element()),
    ),
  )
  // It is among the messages at once, if not yet with the service.
  const single = post(`${s.url}/channels/push/single`, element())
  await until(() => s.taken.length === 2, { what: 'the single one' })
  assert.deepEqual(s.taken, [2, 1])
  s.free()
  const answers = await Promise.all([s.first, ...later])
  assert.deepEqual(
    answers.map(({ body }) => body.successful.length),
    [2, 3, 4],
  )
  assert.equal((await single).status, 200)
  assert.deepEqual(s.taken.slice(0, 2), [2, 1])
  assert.deepEqual(s.taken.slice(2).sort(), [3, 4])
})

test('a batch that found no room in time is fatal, as overload (row 13), and nothing of it was begun', async (t) => {
  const s = await busy(t, { answerBudgetMs: 300 })
  const { status, body } = await post(s.url + batch, [element(), { activity: { id: 1 } }])
  assert.equal(status, 200)
  assert.match(body.fatal[0].error, /too many messages in progress/)
  assert.equal(body.failed.length, 1, 'what is wrong is wrong all the same')
  s.free()
  await s.first
  await s.stop()
  assert.equal(s.apns.received.length, 2)
})

test('a batch that waits for room when the server stops is answered 503 at once', async (t) => {
  const s = await busy(t)
  const waiting = post(s.url + batch, [element()])
  // It has arrived when another request behind it was answered.
  assert.equal((await post(s.url + batch, 'nonsense', 'no-key')).status, 401)
  const stopping = s.stop()
  const { status, body } = await waiting
  assert.equal(status, 503)
  assert.match(body.error, /stopping/)
  s.free()
  await stopping
})
