// From bytes to the registry, without a broker: what is parked, what is held, what a replay does.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { DeviceConsumer, DevicePublisher, Received, Take } from '../../src/devices/device-channel.ts'
import type { DeviceEvent } from '../../src/devices/device-event.ts'
import { deviceId } from '../../src/devices/identity.ts'
import { type Brands, type Parked, takeMessages } from '../../src/devices/message-intake.ts'
import { StoreUnavailable } from '../../src/store/store-unavailable.ts'
import { deviceOf } from '../suites/devices.ts'
import { onEachEngine } from '../support/engines.ts'
import { adminKey, get, post, startOperator, startPlatform } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const ofOne = { name: 'one', key: 'admin-key-of-brand-1', scopes: ['read', 'manage'], brands: ['1'] } as const

/** A consumer whose messages the test brings itself. */
function byHand(name = 'by hand'): { consumer: DeviceConsumer; take: Promise<Take> } {
  const taking = Promise.withResolvers<Take>()
  const consumer: DeviceConsumer = {
    name,
    async consume(take, signal) {
      taking.resolve(take)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  return { consumer, take: taking.promise }
}

/** A topic without a broker. */
const publisherTo = (take: Take): DevicePublisher => ({
  name: 'by hand',
  max: 10,
  concurrency: 1,
  async publish(messages) {
    await take(messages.map(({ what, body }) => link(Buffer.from(body), `USER_DEVICE_${what.toUpperCase()}`)))
    return messages.map(({ id: ref }) => ({ category: 'successful', ref, rule: 'taken' }))
  },
  async close() {},
})

async function start(t: TestContext, store: string, brands: Brands) {
  const { consumer, take } = byHand()
  const { url, stop } = await startPlatform(t, {
    store,
    keys: [adminKey, ofOne],
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
  from: 'by hand',
})

onEachEngine('good ones are taken, the others parked with their bytes, in one go', async (t, store) => {
  const { take, devices, parked } = await start(t, store, '1')
  const told = event('device.parked')
  const bytes = Buffer.from([0x7b, 0xff, 0x00])
  const fates = await take([
    link(record()),
    link(bytes),
    link(record(), 'ELSE'),
    link(record({ user_id: '1002', tokens: [] })),
  ])
  assert.deepEqual(fates, ['taken', 'parked', 'parked', 'taken'])
  assert.equal((await devices('1', '1001')).length, 1)
  assert.partialDeepStrictEqual(await told, { lane: '1/device-links', from: 'by hand', bytes: 3 })
  const [unreadable, unknown] = await parked('pending', ofOne.key, '1/device-links')
  assert.partialDeepStrictEqual(unreadable, { lane: '1/device-links', reason: 'invalid', attempts: 0 })
  assert.match(unreadable.error, /UTF-8/)
  assert.deepEqual(Buffer.from(JSON.parse(unreadable.text).base64, 'base64'), bytes)
  assert.partialDeepStrictEqual(JSON.parse(unknown.text), { type: 'ELSE', from: 'by hand', text: record().toString() })
})

onEachEngine('the same message again is one parked message, and pending again', async (t, store) => {
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
})

onEachEngine('each origin in its own brand; a replay finds an origin that was added since', async (t, store) => {
  const two = link(record({ origin: 'two.example' }))
  const first = await start(t, store, { 'one.example': '1' })
  await first.take([two, link(record())])
  assert.equal((await first.devices('1', '1001')).length, 1)
  const [unknown] = await first.parked()
  assert.equal(unknown.lane, '-/device-links')
  assert.match(unknown.error, /origin "two.example" is of no brand/)
  assert.equal((await first.parked('pending', ofOne.key, '1/device-links')).length, 0, 'it is not of brand 1')
  const replay = (url: string) => post(`${url}/admin/failed/replay`, { lane: '-/device-links' }, adminKey.key)
  const failedAgain = event('item.settled', ({ lane }) => lane === '-/device-links')
  await replay(first.url)
  assert.equal((await failedAgain).category, 'failed')
  await first.stop()

  const second = await start(t, store, { 'one.example': '1', 'two.example': '2' })
  const taken = event('item.settled', ({ lane }) => lane === '-/device-links')
  assert.deepEqual((await replay(second.url)).body, { count: 1 })
  assert.equal((await taken).category, 'successful')
  assert.equal((await second.devices('2', '1001')).length, 1)
})

onEachEngine('an origin counts only on the topic that it is configured for, also when replayed', async (t, store) => {
  const [a, b] = [byHand('topic a'), byHand('topic b')]
  const { url } = await startPlatform(t, {
    store,
    keys: [adminKey],
    lanes: [],
    deviceLinks: [
      { consumer: a.consumer, brands: { 'one.example': '1' } },
      { consumer: b.consumer, brands: { 'two.example': '2' } },
    ],
  })
  const stranger = link(record({ origin: 'two.example' }))
  assert.deepEqual(await (await a.take)([stranger]), ['parked'])
  const settled = event('item.settled', ({ lane }) => lane === '-/device-links')
  await post(`${url}/admin/failed/replay`, { lane: '-/device-links' }, adminKey.key)
  assert.equal((await settled).category, 'failed')
  assert.deepEqual((await get(`${url}/admin/devices?brand=2&user_id=1001`)).body.devices, [])
  assert.deepEqual(await (await b.take)([stranger]), ['taken'])
})

onEachEngine('on a shared topic nothing that an event says chooses its brand', async (t, store) => {
  const { consumer, take } = byHand()
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
  await devices.take(both)
  for (const brand of ['1', '2'])
    await until(
      async () => {
        const { body } = await get(`${platform.url}/admin/devices?brand=${brand}&user_id=a`)
        return body.devices.length === 1 && body.devices[0].device === deviceId(`of ${brand}`)
      },
      { what: `brand ${brand} has its own device and no other` },
    )
})

onEachEngine('equal messages are parked once for each place, however often they are delivered', async (t, store) => {
  const { take, parked } = await start(t, store, '1')
  const at = (offset: number): Received => ({ ...link(record(), 'ELSE'), from: `kafka topic/0 at ${offset}` })
  await take([at(1), at(2)])
  await take([at(2), at(3)])
  assert.equal((await parked()).length, 3)
})

onEachEngine('a message of 5 MB is parked by its beginning, and a replay says what to do', async (t, store) => {
  const { url, take, parked } = await start(t, store, '1')
  await take([link(record({ note: 'x'.repeat(5_000_000) }))])
  const [large] = await parked()
  assert.match(large.error, /5000\d{3} bytes/)
  assert.ok(large.text.length < 100_000)
  assert.equal(JSON.parse(large.text).cut, true)
  await post(`${url}/admin/failed/replay`, { lane: '1/device-links' }, adminKey.key)
  const [still] = await until(
    async () => {
      const items = await parked()
      return items.length === 1 && items[0].attempts > 0 && items
    },
    { what: 'the replay failed' },
  )
  assert.match(still.error, /only its beginning was kept/)
})

const events: (readonly DeviceEvent[])[] = []
const parkedBy = (reasons: string[]) => (parked: readonly Parked[]) => {
  reasons.push(...parked.map(({ reason }) => reason))
  return []
}

test('while the store is away nothing is taken and nothing parked', async () => {
  const reasons: string[] = []
  const take = takeMessages({
    registry: { take: async () => Promise.reject(new StoreUnavailable('away')) },
    brands: '1',
    park: parkedBy(reasons),
  })
  await assert.rejects(take([link(record()), link(Buffer.from('{'))]), StoreUnavailable)
})

test('what cannot be stored is parked alone, and its neighbours are taken', async () => {
  const reasons: string[] = []
  const take = takeMessages({
    registry: {
      async take(some) {
        if (some.some(({ userId }) => userId === 'bad')) throw new Error('the row violates a constraint')
        events.push(some)
        return []
      },
    },
    brands: '1',
    park: parkedBy(reasons),
  })
  const fates = await take([link(record()), link(record({ user_id: 'bad' })), link(record({ user_id: 'last' }))])
  assert.deepEqual(fates, ['taken', 'parked', 'taken'])
  assert.deepEqual(
    events.flat().map(({ userId }) => userId),
    ['1001', 'last'],
  )
  assert.match(reasons.at(-1) as string, /cannot be stored: the row violates/)
})
