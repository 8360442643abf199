// One of two databases is cut off: the brands of the other go on undisturbed.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { BrokerConsumer, Take } from '../../../src/base/brokers/consumer.ts'
import { signedIn } from '../../console/browse.ts'
import { query, withoutPostgres } from '../../support/services/postgres.ts'
import { adminKey, element, elements, get, post } from '../../support/sides.ts'
import { twoStores } from '../../support/two-stores.ts'
import { event, until } from '../../support/wait.ts'
import { start } from './several-stores.ts'

const skip = await withoutPostgres()
const ofBrand = (brand: number, n = 20) => elements(n, { brand_id: brand })
const slow = { withinMs: 30_000 }

for (const lost of [0, 1] as const)
  test(`store ${lost} goes away and comes back: the other brand is delivered meanwhile`, { skip }, async (t) => {
    const stores = await twoStores(t)
    const { url, enqueue, provider } = await start(t, stores)
    const [here, away] = lost === 1 ? [1, 2] : [2, 1]
    await enqueue([...ofBrand(1), ...ofBrand(2)])
    const settled = async () => (await get(`${url}/admin/summary`)).body.successful === 40
    await until(settled, { awaited: 'both brands are delivered' })
    const console = await signedIn(url, adminKey.key)

    const noticed = event('store.lost')
    stores.proxies[lost].cut()
    await noticed
    assert.equal((await enqueue(ofBrand(here))).body.accepted, 20)
    await until(() => provider.received.length === 60, { awaited: 'the other brand is delivered' })
    assert.equal((await enqueue(ofBrand(away))).status, 503)
    const ready = await get(`${url}/readyz`)
    assert.deepEqual([ready.status, ready.body.stores[lost], ready.body.stores[1 - lost]], [200, 'unavailable', 'ok'])
    const lanes = (await get(`${url}/admin/lanes`)).body
    assert.deepEqual(lanes.unavailable, [`${away}/push`])
    assert.equal(lanes.lanes[0].name, `${here}/push`)
    assert.equal((await get(`${url}/admin/failed?lane=${here}/push`)).status, 200)
    const statusOf = async (path: string) => (await get(`${url}/admin/${path}`)).status
    assert.equal(await statusOf(`messages?brand=${here}&user_id=1001`), 200)
    assert.equal(await statusOf(`messages?brand=${away}&user_id=1001`), 503)
    assert.equal(await statusOf('summary'), 503, 'a part would look like the whole')
    const missing = new RegExp(`1 lane does not answer.* lane ${away}/push does not answer now.* Waiting`)
    await until(async () => missing.test((await console.look('/console')).text), { awaited: 'the overview says it' })
    const pause = { lane: `${here}/push`, reason: 'test' }
    assert.equal((await post(`${url}/admin/lanes/pause`, pause, adminKey.key)).status, 200)
    assert.equal((await post(`${url}/admin/lanes/resume`, { lane: pause.lane }, adminKey.key)).status, 200)

    stores.proxies[lost].restore()
    const rest = ofBrand(away)
    await until(async () => (await enqueue(rest)).status === 200, { ...slow, awaited: 'the store is back' })
    await until(() => provider.received.length === 80, { ...slow, awaited: 'its brand is delivered' })
    assert.equal(new Set(provider.received.map(({ id }) => id)).size, 80, 'each once')
  })

test('a platform starts while a store is away, and serves its brands as soon as it is back', { skip }, async (t) => {
  const stores = await twoStores(t)
  stores.proxies[1].cut()
  const { url, enqueue, provider } = await start(t, stores)
  assert.equal((await enqueue(ofBrand(1))).body.accepted, 20)
  await until(() => provider.received.length === 20, { awaited: 'brand 1 is delivered' })
  assert.equal((await enqueue(ofBrand(2))).status, 503)
  const back = event('store.back', undefined, slow)
  stores.proxies[1].restore()
  await back
  assert.equal((await enqueue(ofBrand(2))).body.accepted, 20)
  await until(() => provider.received.length === 40, { ...slow, awaited: 'brand 2 is delivered' })
  assert.deepEqual((await get(`${url}/readyz`)).body.stores, { 0: 'ok', 1: 'ok' })
})

test('no store can be reached: /readyz refuses traffic until one can', { skip }, async (t) => {
  const stores = await twoStores(t)
  for (const proxy of stores.proxies) proxy.cut()
  const { url } = await start(t, stores)
  assert.equal((await get(`${url}/readyz`)).status, 503)
  stores.proxies[1].restore()
  await until(async () => (await get(`${url}/readyz`)).status === 200, { ...slow, awaited: 'one store is back' })
})

test('records and parked messages of a mixed queue go to the databases of their brands', { skip }, async (t) => {
  const stores = await twoStores(t)
  const consuming = Promise.withResolvers<Take>()
  const consumer: BrokerConsumer = {
    name: 'test queue',
    async consume(take, signal) {
      consuming.resolve(take)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  const { provider } = await start(t, stores, { intake: [{ consumer }] })
  const take = await consuming.promise
  const message = (text: string) => ({ type: 'push', body: Buffer.from(text), from: 'test' })
  const unreadable = JSON.stringify(element({ brand_id: 2 }, { expires_at: 'never' }))
  const texts = [JSON.stringify(element()), JSON.stringify(element({ brand_id: 2 })), unreadable, 'not json']
  assert.deepEqual(await take(texts.map(message)), ['taken', 'taken', 'parked', 'parked'])
  await until(() => provider.received.length === 2, { awaited: 'both records are delivered' })
  const parkedIn = async (i: 0 | 1) =>
    (await query(stores.schemas[i], 'select lane from failed')).map(({ lane }) => lane)
  assert.deepEqual([await parkedIn(0), await parkedIn(1)], [['-/intake'], ['2/intake']])
})
