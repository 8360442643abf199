// Brands share the slots of a service, and the limit of messages in progress, fairly: no backlog blocks another brand.

import assert from 'node:assert/strict'
import test from 'node:test'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import type { Delivery } from '../../src/subjects/delivery/delivery.ts'
import { createDevices } from '../../src/subjects/delivery/devices.ts'
import type { Message, Provider, Result } from '../../src/subjects/providers/provider.ts'
import type { DeviceAnswer } from '../../src/subjects/providers/push-service.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { accepted, device, deviceBook, witnessService } from '../support/push-services.ts'
import { pathTo } from '../support/send-path.ts'
import { witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const context = { deadline: Date.now() + 60_000, signal: new AbortController().signal }
let nextId = 1
function messagesOf(brand: string, count: number): Message[] {
  return Array.from({ length: count }, () => {
    const id = String(nextId++)
    const text = JSON.stringify({ activity: { id: Number(id) }, title: 'Hello' })
    return {
      brand,
      channel: 'push',
      id,
      userId: '1001',
      key: `["${id}"]`,
      ref: uuidv7(),
      text,
      attempt: 1,
      context: {},
    }
  })
}

async function pathOf(
  t: test.TestContext,
  provider: Provider | Delivery,
  limits: { inProgress: number; concurrency?: number },
) {
  const database = await openTestDatabase(t, 'sqlite::memory:', { migrations: operatorMigrations })
  const path = pathTo(database, provider, undefined, limits)
  t.after(() => path.idle())
  return (brand: string, count: number): Promise<readonly Result[]> => path.send(messagesOf(brand, count), context)
}

const devices = [device(), device({ brand: '2', token: 'b-2' })]

test('a message waits for at most one round while thousands of another brand wait for the same push service', async (t) => {
  const pending: ((answer: DeviceAnswer) => void)[] = []
  let slow = true
  const service = witnessService('apns', () => (slow ? new Promise((resolve) => pending.push(resolve)) : accepted), {
    concurrency: 2,
  })
  const source = deviceBook(devices)
  const send = await pathOf(t, createDevices({ source, services: [service] }), { inProgress: 10_000 })
  const backlog = send('1', 3_000)
  await until(() => pending.length === 2, { awaited: 'the slots are occupied' })
  const other = send('2', 1)
  await until(() => source.asked.some(([brand]) => brand === '2'), {
    awaited: 'the devices of brand 2 are looked up: the message waits',
  })
  for (const resolve of pending.splice(0)) resolve(accepted)
  await until(() => pending.length === 2, { awaited: 'two more were sent' })
  assert.deepEqual(new Set(service.received.slice(2).map((push) => push.device.brand)), new Set(['1', '2']))
  slow = false
  for (const resolve of pending.splice(0)) resolve(accepted)
  assert.equal((await other)[0]?.category, 'successful')
  assert.ok((await backlog).every(({ category }) => category === 'successful'))
})

test('a message waits for at most one call while batches of another brand wait for the same provider', async (t) => {
  const pending: (() => void)[] = []
  let slow = true
  const provider = witness(async ({ ref }) => {
    if (slow) await new Promise<void>((resolve) => pending.push(resolve))
    return { category: 'successful', ref, rule: 'accepted' }
  }, 1)
  const send = await pathOf(t, provider, { inProgress: 10_000, concurrency: 1 })
  const backlog = send('1', 50)
  await until(() => pending.length === 1, { awaited: 'the slot is occupied' })
  const claimed = event('message.claimed', ({ brand }) => brand === '2')
  const other = send('2', 1)
  await claimed
  pending.shift()?.()
  await until(() => pending.length === 1, { awaited: 'the next one was sent' })
  assert.equal(provider.received.at(-1)?.brand, '1', 'brand 1 was next in the round')
  pending.shift()?.()
  await until(() => pending.length === 1, { awaited: 'the next one was sent' })
  assert.equal(provider.received.at(-1)?.brand, '2')
  slow = false
  pending.shift()?.()
  assert.equal((await other)[0]?.category, 'successful')
  assert.ok((await backlog).every(({ category }) => category === 'successful'))
})

test('a brand that uses the whole limit of messages in progress does not delay the messages of another brand', async (t) => {
  const hangs = Promise.withResolvers<void>()
  const provider = witness(async ({ brand, ref }) => {
    if (brand === '1') await hangs.promise
    return { category: 'successful', ref, rule: 'accepted' }
  }, 1)
  const send = await pathOf(t, provider, { inProgress: 10 })
  const backlog = send('1', 10)
  assert.partialDeepStrictEqual(await send('1', 1), [{ category: 'fatal', reason: 'overloaded' }])
  const other = await send('2', 10)
  const reasons = Map.groupBy(other, (result) => (result.category === 'fatal' ? result.reason : result.category))
  assert.deepEqual(
    [...reasons].map(([reason, results]) => [reason, results.length]),
    [
      ['successful', 5],
      ['overloaded', 5],
    ],
    'half of the limit',
  )
  hangs.resolve()
  assert.ok((await backlog).every(({ category }) => category === 'successful'))
})
