// During an outage of a push service, refused attempts write nothing, and callers get a Retry-After.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createAcceptedKeys } from '../../src/base/http/accepted-keys.ts'
import { createHttp, listen } from '../../src/base/http/http.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { operatorLimits } from '../../src/sides/operator/options.ts'
import { sendRoutes } from '../../src/sides/operator/send-routes.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import type { Delivery } from '../../src/subjects/delivery/delivery.ts'
import { createDevices } from '../../src/subjects/delivery/devices.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { guard } from '../../src/subjects/providers/guard.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import type { DeviceAnswer } from '../../src/subjects/providers/push-service.ts'
import { onSqlite } from '../support/engines.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { accepted, away, device, deviceBook, type WitnessService, witnessService } from '../support/push-services.ts'
import { pathTo } from '../support/send-path.ts'
import { type Answer, element, elements, keys, post, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const tables = ['messages', 'requests', 'refusals', 'device_sends']
const countRows = statement<Record<string, number>>('count_rows', {})`
  select ${tables.map((table) => `(select count(*) from ${table}) as ${table}`).join(', ')}`

/** Serves the send endpoints with one provider. */
async function serveProvider(t: TestContext, store: string, provider: Provider | Delivery) {
  const database = await openTestDatabase(t, store, { migrations: operatorMigrations })
  const path = pathTo(database, provider, undefined, { inProgress: 5_000 })
  const app = createHttp('operator', operatorLimits.bodyBytes)
  const { signal } = new AbortController()
  sendRoutes(app, { keys: createAcceptedKeys([keys.both]), paths: { push: path }, limits: operatorLimits, signal })
  await app.ready()
  const { url, close } = await listen('operator', app.routing)
  t.after(() => close(100))
  return {
    single: (one: object) => post(`${url}/channels/push/single`, one),
    batch: (elements: readonly object[]) => post(`${url}/channels/push/batch`, elements),
    rows: async () => (await database.read(op(countRows, [[]])))[0] as Record<string, number>,
  }
}

/** Users 1001 with an iPhone, 2002 with an Android device, 3003 with both. */
const devices: readonly Device[] = [
  device(),
  device({ userId: '2002', token: 'f-2', kind: 'fcm_token' }),
  device({ userId: '3003', token: 'a-3' }),
  device({ userId: '3003', token: 'f-3', kind: 'fcm_token' }),
]
const pausedFor = (retryAfterMs: number): DeviceAnswer => ({ ...away, retryAfterMs })
const devicesOf = (services: readonly WitnessService[], timeoutMs = 15_000): Delivery =>
  createDevices({ source: deviceBook(devices), services, guard: { timeoutMs } })

const retryAfterOf = ({ headers }: Answer): number => Number(headers.get('retry-after'))

onSqlite('attempts that are refused during a pause write nothing, and have a Retry-After', async (t, store) => {
  const apns = witnessService('apns', () => pausedFor(60_000))
  const { single, batch, rows } = await serveProvider(t, store, devicesOf([apns]))
  const first = element()
  assert.deepEqual([(await single(first)).status, apns.received.length], [503, 1])
  const before = await rows()
  const campaign = [first, ...elements(200)]
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = await batch(campaign)
    assert.deepEqual([answer.status, answer.body.fatal.length], [200, campaign.length])
    assert.ok(retryAfterOf(answer) > 50 && retryAfterOf(answer) <= 60, `Retry-After: ${retryAfterOf(answer)}`)
    const [refused] = answer.body.fatal
    assert.ok(refused.push_id, 'a message that was claimed keeps its identifier')
    const alone = await single(campaign[1] as object)
    assert.equal(alone.status, 503)
    assert.ok(retryAfterOf(alone) > 50 && retryAfterOf(alone) <= 60, `Retry-After: ${retryAfterOf(alone)}`)
  }
  assert.deepEqual(await rows(), before)
  assert.equal(apns.received.length, 1)
})

onSqlite('while a push service hangs, only messages that were sent to it leave evidence', async (t, store) => {
  const apns = witnessService('apns', () => new Promise(() => {}), { concurrency: 5 })
  const { single, batch, rows } = await serveProvider(t, store, devicesOf([apns], 100))
  const campaign = elements(500)
  const answers = await Promise.all([batch(campaign), ...elements(100).map(single)])
  assert.equal(answers[0]?.body.fatal.length, campaign.length)
  assert.ok(answers.every((answer) => retryAfterOf(answer) >= 1))
  const { refusals = 0, device_sends: sends = 0, requests = 0 } = await rows()
  assert.ok(requests <= 101, 'each request is stored once, with the claim of its messages')
  const called = apns.received.length
  assert.ok(called <= 20, `${called} messages were sent`)
  assert.ok(refusals <= called && sends <= called, JSON.stringify({ refusals, sends }))
})

onSqlite('a delivered message is answered with its identifier even during a pause', async (t, store) => {
  let answer: DeviceAnswer = accepted
  const apns = witnessService('apns', () => answer)
  const { single, batch } = await serveProvider(t, store, devicesOf([apns]))
  const delivered = element()
  const { push_id } = (await single(delivered)).body
  answer = pausedFor(60_000)
  assert.equal((await single(element())).status, 503)
  assert.equal((await single(delivered)).body.push_id, push_id)
  const mixed = await batch([element(), delivered])
  assert.deepEqual(
    mixed.body.successful.map((one: { push_id: string }) => one.push_id),
    [push_id],
  )
  assert.equal(mixed.headers.get('retry-after'), null, 'one of them was delivered')
})

onSqlite('while one of two push services is paused, the other still gets its messages', async (t, store) => {
  const apns = witnessService('apns')
  const fcm = witnessService('fcm_token', () => pausedFor(60_000))
  const { single, batch, rows } = await serveProvider(t, store, devicesOf([apns, fcm]))
  assert.equal((await single(element({ user_id: '2002' }))).status, 503)
  const before = await rows()
  const refused = await batch(elements(50, { user_id: '2002' }))
  assert.equal(refused.body.fatal.length, 50)
  assert.equal(refused.headers.get('retry-after'), null, 'messages for the other service must not wait')
  assert.deepEqual(await rows(), before)
  const { body } = await batch([element(), element({ user_id: '2002' }), element({ user_id: '3003' })])
  assert.deepEqual([body.successful.length, body.fatal.length], [2, 1])
  assert.equal((await single(element({ user_id: 'nobody' }))).status, 422, 'no device')
  assert.equal(fcm.received.length, 1)
})

onSqlite('after a pause, one message is the probe; others are refused until it has a result', async (t, store) => {
  const answered = Promise.withResolvers<DeviceAnswer>()
  const called = Promise.withResolvers<true>()
  let calls = 0
  const apns = witnessService('apns', () => {
    if (calls++ === 0) return pausedFor(1_000)
    called.resolve(true)
    return answered.promise
  })
  const { single, batch, rows } = await serveProvider(t, store, devicesOf([apns]))
  assert.equal((await single(element())).status, 503)
  const before = (await rows()).messages as number
  const probe = element()
  const asked: Promise<Answer>[] = []
  await until(
    () => {
      const probing = single(probe)
      asked.push(probing)
      return Promise.race([called.promise, probing.then(() => false)])
    },
    { awaited: 'the pause is over' },
  )
  const meanwhile = await batch(elements(50))
  assert.equal(meanwhile.body.fatal.length, 50)
  assert.equal((await rows()).messages, before + 1)
  answered.resolve(accepted)
  assert.equal((await asked.at(-1))?.status, 200)
  assert.equal((await batch(elements(50))).body.successful.length, 50)
})

onSqlite(
  'a batch for a custom provider is refused before its claim too, and the Retry-After of the provider is passed on',
  async (t, store) => {
    const provider = witness(() => ({ ...away, retryAfterMs: 60_000 }))
    const { batch, rows } = await serveProvider(t, store, guard(provider, { concurrency: 4, timeoutMs: 5_000 }))
    const first = await batch(elements(10))
    assert.deepEqual([first.body.fatal.length, retryAfterOf(first)], [10, 60])
    // The breaker opens after five failed calls.
    for (let call = 0; call < 5; call++) await batch(elements(1))
    const before = await rows()
    const sent = provider.received.length
    const refused = await batch(elements(100))
    assert.equal(refused.body.fatal.length, 100)
    assert.ok(retryAfterOf(refused) >= 1)
    assert.deepEqual([await rows(), provider.received.length], [before, sent])
  },
)
