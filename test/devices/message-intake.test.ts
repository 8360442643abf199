// Message intake without a broker: which messages are stored, parked or retried, and the effect of a replay.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { BrokerConsumer, Received, Take } from '../../src/base/brokers/consumer.ts'
import type { Parked } from '../../src/base/brokers/parked.ts'
import { takeMessages } from '../../src/base/brokers/take-messages.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import type { DeviceEvent } from '../../src/subjects/devices/device-event.ts'
import type { DevicePublisher } from '../../src/subjects/devices/device-publisher.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import { type Brands, readLink } from '../../src/subjects/devices/read-link.ts'
import { deviceOf } from '../suites/devices.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { adminKey, get, post, startOperator, startPlatform } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const keyOfOne = {
  name: 'one',
  key: 'admin-key-of-brand-1',
  scopes: ['counts', 'read', 'decide', 'attributes'],
  brands: ['1'],
} as const

/** A consumer whose messages come from the test. */
function manualConsumer(name = 'manual'): { consumer: BrokerConsumer; take: Promise<Take> } {
  const taking = Promise.withResolvers<Take>()
  const consumer: BrokerConsumer = {
    name,
    async consume(take, signal) {
      taking.resolve(take)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  return { consumer, take: taking.promise }
}

/** A publisher that passes its messages directly to a consumer. */
const publisherTo = (take: Take): DevicePublisher => ({
  name: 'manual',
  max: 10,
  concurrency: 1,
  async publish(messages) {
    await take(messages.map(({ what, body }) => link(Buffer.from(body), `USER_DEVICE_${what.toUpperCase()}`)))
    return messages.map(({ id: ref }) => ({ category: 'successful', ref, rule: 'test' }))
  },
  async close() {},
})

async function start(t: TestContext, store: string, brands: Brands) {
  const { consumer, take } = manualConsumer()
  const { url, stop } = await startPlatform(t, {
    store,
    keys: [adminKey, keyOfOne],
    lanes: [],
    deviceLinks: [{ consumer, brands }],
  })
  const devices = async (brand: string, user: string) =>
    (await get(`${url}/admin/devices?brand=${brand}&user_id=${user}`)).body.devices as object[]
  const parked = async (state = 'pending', key: string = adminKey.key, lane = '') =>
    (await get(`${url}/admin/failed?state=${state}${lane && `&lane=${lane}`}`, key)).body.items
  return { url, stop, take: await take, devices, parked }
}

const record = (over: object = {}): Buffer =>
  Buffer.from(
    JSON.stringify({
      user_id: '1001',
      tokens: [{ token: 't1', channel: 'android', provider: 'firebase' }],
      timestamp: '2026-01-01T10:00:00Z',
      origin: 'one.example',
      ...over,
    }),
  )
const link = (body: Buffer, type: string | undefined = 'USER_DEVICE_LINK'): Received => ({
  type,
  body,
  from: 'manual',
})

onEachEngine('in one call, valid messages are stored and the others are parked with their bytes', async (t, store) => {
  const { take, devices, parked } = await start(t, store, '1')
  const parkedEvent = event('message.parked')
  const bytes = Buffer.from([0x7b, 0xff, 0x00])
  const results = await take([
    link(record()),
    link(bytes),
    link(record(), 'ELSE'),
    link(record({ user_id: '1002', tokens: [] })),
  ])
  assert.deepEqual(results, ['taken', 'parked', 'parked', 'taken'])
  assert.equal((await devices('1', '1001')).length, 1)
  assert.partialDeepStrictEqual(await parkedEvent, { lane: '1/device-links', from: 'manual', bytes: 3 })
  const [unreadable, unknown] = await parked('pending', keyOfOne.key, '1/device-links')
  assert.partialDeepStrictEqual(unreadable, { lane: '1/device-links', reason: 'invalid', attempts: 0 })
  assert.match(unreadable.error, /UTF-8/)
  assert.deepEqual(Buffer.from(JSON.parse(unreadable.text).base64, 'base64'), bytes)
  assert.partialDeepStrictEqual(JSON.parse(unknown.text), { type: 'ELSE', from: 'manual', text: record().toString() })
})

onEachEngine(
  'a repeated message is parked once, and is pending again if it is repeated after a dismiss',
  async (t, store) => {
    const { url, take, parked } = await start(t, store, '1')
    await take([link(record(), 'ELSE'), link(record(), 'ELSE')])
    await take([link(record(), 'ELSE')])
    assert.equal((await parked()).length, 1)
    assert.deepEqual((await post(`${url}/admin/failed/dismiss`, { lane: '1/device-links' }, adminKey.key)).body, {
      count: 1,
    })
    assert.equal((await parked()).length, 0)
    await take([link(record(), 'ELSE')])
    assert.equal((await parked()).length, 1)
  },
)

onSqlite(
  'the origin selects the brand; a replay uses origins that were added after the message was parked',
  async (t, store) => {
    const two = link(record({ origin: 'two.example' }))
    const first = await start(t, store, { 'one.example': '1' })
    await first.take([two, link(record())])
    assert.equal((await first.devices('1', '1001')).length, 1)
    const [unknown] = await first.parked()
    assert.equal(unknown.lane, '-/device-links')
    assert.match(unknown.error, /origin "two.example" has no brand/)
    assert.equal(
      (await first.parked('pending', keyOfOne.key, '1/device-links')).length,
      0,
      'the lane of brand 1 does not contain the message',
    )
    const replay = (url: string) => post(`${url}/admin/failed/replay`, { lane: '-/device-links' }, adminKey.key)
    const failedAgain = event('item.settled', ({ lane }) => lane === '-/device-links')
    await replay(first.url)
    assert.equal((await failedAgain).category, 'failed')
    await first.stop()

    const second = await start(t, store, { 'one.example': '1', 'two.example': '2' })
    const replayed = event('item.settled', ({ lane }) => lane === '-/device-links')
    assert.deepEqual((await replay(second.url)).body, { count: 1 })
    assert.equal((await replayed).category, 'successful')
    assert.equal((await second.devices('2', '1001')).length, 1)
  },
)

onSqlite('an origin counts only on the topic for which it is configured, also in a replay', async (t, store) => {
  const [a, b] = [manualConsumer('topic a'), manualConsumer('topic b')]
  const { url } = await startPlatform(t, {
    store,
    keys: [adminKey],
    lanes: [],
    deviceLinks: [
      { consumer: a.consumer, brands: { 'one.example': '1' } },
      { consumer: b.consumer, brands: { 'two.example': '2' } },
    ],
  })
  const message = link(record({ origin: 'two.example' }))
  assert.deepEqual(await (await a.take)([message]), ['parked'])
  const settled = event('item.settled', ({ lane }) => lane === '-/device-links')
  await post(`${url}/admin/failed/replay`, { lane: '-/device-links' }, adminKey.key)
  assert.equal((await settled).category, 'failed')
  assert.deepEqual((await get(`${url}/admin/devices?brand=2&user_id=1001`)).body.devices, [])
  assert.deepEqual(await (await b.take)([message]), ['taken'])
})

onSqlite(
  'on a shared topic the brand of a message is that of the publisher, whatever the origin of the event',
  async (t, store) => {
    const { consumer, take } = manualConsumer()
    const platform = await startPlatform(t, {
      keys: [adminKey],
      lanes: [],
      deviceLinks: [{ consumer, brands: { 'www.one.example': '1', 'www.two.example': '2' } }],
    })
    const topic = await take
    const publish = ['one', 'two'].map((name, i) => ({
      brand: String(i + 1),
      origin: `www.${name}.example`,
      publisher: publisherTo(topic),
    }))
    const { devices } = await startOperator(t, { store, publish })
    const both = ['1', '2'].map((brand) => deviceOf({ brand, token: `of ${brand}`, origin: 'www.two.example' }))
    await devices.storeEvents(both)
    for (const brand of ['1', '2'])
      await until(
        async () => {
          const { body } = await get(`${platform.url}/admin/devices?brand=${brand}&user_id=a`)
          return body.devices.length === 1 && body.devices[0].device === deviceId(`of ${brand}`)
        },
        { awaited: `brand ${brand} has its own device and no other` },
      )
  },
)

onSqlite('equal messages at different offsets are parked separately, each once', async (t, store) => {
  const { take, parked } = await start(t, store, '1')
  const at = (offset: number): Received => ({ ...link(record(), 'ELSE'), from: `kafka topic/0 at ${offset}` })
  await take([at(1), at(2)])
  await take([at(2), at(3)])
  assert.equal((await parked()).length, 3)
})

onSqlite('a message of 5 MB is parked truncated, and a replay fails with the remedy', async (t, store) => {
  const { url, take, parked } = await start(t, store, '1')
  await take([link(record({ note: 'x'.repeat(5_000_000) }))])
  const [large] = await parked()
  assert.match(large.error, /5000\d{3} bytes/)
  assert.ok(large.text.length < 100_000)
  assert.equal(JSON.parse(large.text).cut, true)
  await post(`${url}/admin/failed/replay`, { lane: '1/device-links' }, adminKey.key)
  const [replayed] = await until(
    async () => {
      const items = await parked()
      return items.length === 1 && items[0].attempts > 0 && items
    },
    { awaited: 'the replay fails' },
  )
  assert.match(replayed.error, /only its beginning was kept: publish it again/)
})

const events: (readonly DeviceEvent[])[] = []
const read = (message: Received) => readLink(message, { brands: '1' })
const recordReasons = (reasons: string[]) => (parked: readonly Parked[]) => {
  reasons.push(...parked.map(({ reason }) => reason))
  return []
}

test('while the store is unavailable, take() rejects', async () => {
  const reasons: string[] = []
  const take = takeMessages({
    read,
    commit: async () => Promise.reject(new StoreUnavailable('unavailable')),
    park: recordReasons(reasons),
  })
  await assert.rejects(take([link(record()), link(Buffer.from('{'))]), StoreUnavailable)
})

test('a message that cannot be stored is parked, and the other messages of the batch are stored', async () => {
  const reasons: string[] = []
  const take = takeMessages({
    read,
    async commit(values) {
      const batch = values.flat()
      if (batch.some(({ userId }) => userId === 'bad')) throw new Error('the row violates a constraint')
      events.push(batch)
    },
    park: recordReasons(reasons),
  })
  const results = await take([link(record()), link(record({ user_id: 'bad' })), link(record({ user_id: 'last' }))])
  assert.deepEqual(results, ['taken', 'parked', 'taken'])
  assert.deepEqual(
    events.flat().map(({ userId }) => userId),
    ['1001', 'last'],
  )
  assert.match(reasons.at(-1) as string, /cannot be stored: the row violates/)
})
