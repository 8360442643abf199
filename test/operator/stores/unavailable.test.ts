// One of two databases is cut off: the brands of the other are served undisturbed.

import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutPostgres } from '../../support/services/postgres.ts'
import { element, get } from '../../support/sides.ts'
import { twoStores } from '../../support/two-stores.ts'
import { event, until } from '../../support/wait.ts'
import { divided, poll, pollAll, sendBatch, start } from './several-stores.ts'

const skip = await withoutPostgres()
const slow = { withinMs: 30_000 }
const ofBrand = (brand: number, n = 10) => Array.from({ length: n }, () => element({ brand_id: brand }))

for (const lost of [0, 1] as const)
  test(`store ${lost} goes away and comes back: the other brand is served meanwhile`, { skip }, async (t) => {
    const stores = await twoStores(t)
    const { url, provider } = await start(t, stores, divided(stores.urls))
    const [here, away] = lost === 1 ? [1, 2] : [2, 1]
    const first = await sendBatch(url, 'push', [...ofBrand(1), ...ofBrand(2)])
    assert.equal(first.body.successful.length, 20)
    const { next } = await pollAll(url)

    const noticed = event('store.lost')
    stores.proxies[lost].cut()
    await noticed
    const [lostBatch, mixed] = [ofBrand(away), [...ofBrand(here), ...ofBrand(away)]]
    const both = (await sendBatch(url, 'push', mixed)).body
    assert.deepEqual([both.successful.length, both.fatal.length], [10, 10], 'one batch with both brands')
    assert.equal((await sendBatch(url, 'push', lostBatch)).body.fatal.length, 10)
    assert.equal(provider.received.length, 30)
    const ready = await get(`${url}/readyz`)
    assert.deepEqual([ready.status, ready.body.stores[lost], ready.body.stores[1 - lost]], [200, 'unavailable', 'ok'])
    const statusOf = async (path: string) => (await get(`${url}/admin/${path}`)).status
    assert.equal(await statusOf(`messages?brand=${here}&user_id=1001`), 200)
    assert.equal(await statusOf(`messages?brand=${away}&user_id=1001`), 503)
    assert.equal(await statusOf(`messages/${both.successful[0].push_id}`), 200)
    assert.equal(await statusOf('messages/0190-unknown'), 503, 'the other store may have it')
    assert.equal(await statusOf('summary'), 503, 'a part would look like the whole')
    const polled = await poll(url, next)
    assert.equal(polled.records.length, 10, 'statuses of the other brand are polled')

    stores.proxies[lost].restore()
    const again = [...mixed.slice(10), ...lostBatch]
    const delivered = async () => (await sendBatch(url, 'push', again)).body.successful.length === 20
    await until(delivered, { ...slow, awaited: 'the store is back' })
    assert.equal(new Set(provider.received.map(({ id }) => id)).size, 50)
    assert.equal(provider.received.length, 50, 'each once')
    assert.equal((await pollAll(url, polled.next)).records.length, 20, 'no status is skipped, and none comes twice')
  })

test('an operator starts while a store is away, and serves its brands as soon as it is back', { skip }, async (t) => {
  const stores = await twoStores(t)
  stores.proxies[1].cut()
  const { url } = await start(t, stores, divided(stores.urls))
  assert.equal((await sendBatch(url, 'push', ofBrand(1))).body.successful.length, 10)
  const batch = ofBrand(2)
  assert.equal((await sendBatch(url, 'push', batch)).body.fatal.length, 10)
  const back = event('store.back', undefined, slow)
  stores.proxies[1].restore()
  await back
  const delivered = async () => (await sendBatch(url, 'push', batch)).body.successful.length === 10
  await until(delivered, { ...slow, awaited: 'brand 2 is served' })
})

test('no store can be reached: /readyz refuses traffic, and polling is answered 503', { skip }, async (t) => {
  const stores = await twoStores(t)
  for (const proxy of stores.proxies) proxy.cut()
  const { url } = await start(t, stores, divided(stores.urls))
  assert.equal((await get(`${url}/readyz`)).status, 503)
  await assert.rejects(poll(url), /status 503/)
  stores.proxies[0].restore()
  await until(async () => (await get(`${url}/readyz`)).status === 200, { ...slow, awaited: 'one store is back' })
})
