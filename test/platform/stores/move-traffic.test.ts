// A brand is moved to another database while a platform serves it and other brands.

import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutPostgres } from '../../support/services/postgres.ts'
import { adminKey, elements, get, post, type Witness, witness } from '../../support/sides.ts'
import { holdTable, repeat, type TwoStores, twoStores } from '../../support/two-stores.ts'
import { event, until } from '../../support/wait.ts'
import { after, before, move, rowsIn, runMove, startBrands, startMove } from './moving.ts'

const skip = await withoutPostgres()
const slow = { withinMs: 30_000 }
const ofBrand = (brand: number, n = 20) => elements(n, { brand_id: brand })
const enqueue = (url: string, records: readonly object[]) => post(`${url}/admin/activities/push`, records, adminKey.key)
const sentOf = ({ received }: Witness, brand: string): string[] =>
  received.filter((message) => message.brand === brand).map(({ id }) => id)

/** Enqueues records of a brand until it is stopped. A record that is answered 503 is enqueued again. */
function feed(stores: TwoStores, urlOf: () => string, brand: number) {
  const accepted = new Set<string>()
  const stop = repeat(stores, async () => {
    const records = ofBrand(brand, 3)
    const stored = async () => (await enqueue(urlOf(), records).catch(() => undefined))?.status === 200
    await until(stored, { ...slow, awaited: `records of brand ${brand} are stored` })
    for (const { activity } of records) accepted.add(String(activity.id))
  })
  return { accepted, stop }
}

test('each message of all brands is delivered once while one brand moves and the platform is replaced', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const provider = witness()
  const old = await startBrands(t, stores, before(stores.schemas), { provider })
  let url = old.url
  const feeds = [1, 2, 3].map((brand) => feed(stores, () => url, brand))
  await until(() => sentOf(provider, '2').length > 50, { awaited: 'traffic' })
  const held = await holdTable(stores, stores.schemas[1], 'crm_users')
  const moving = move(before(stores.schemas))
  await held.reached()

  const counts = ['1', '3'].map((brand) => sentOf(provider, brand).length)
  const stopped = sentOf(provider, '2').length
  for (const [i, brand] of ['1', '3'].entries())
    await until(() => sentOf(provider, brand).length > (counts[i] as number) + 50, {
      awaited: `brand ${brand} goes on`,
    })
  assert.equal(sentOf(provider, '2').length, stopped, 'no message of the brand is sent')
  assert.equal((await enqueue(old.url, ofBrand(2))).status, 503)

  await held.release()
  await moving
  const replacement = await startBrands(t, stores, after(stores.schemas), { provider })
  url = replacement.url
  await old.stop()
  await until(() => sentOf(provider, '2').length > stopped + 50, { ...slow, awaited: 'the brand goes on' })
  for (const each of feeds) await each.stop()
  for (const [i, { accepted }] of feeds.entries()) {
    const ids = () => sentOf(provider, String(i + 1))
    await until(() => ids().length >= accepted.size, { ...slow, awaited: `brand ${i + 1} is delivered` })
    assert.deepEqual(ids().sort(), [...accepted].sort(), 'each once')
  }
  assert.equal(await rowsIn(stores.schemas[0]), 0)
})

test('calls in flight are settled before the rows are copied', { skip }, async (t) => {
  const stores = await twoStores(t)
  const called = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const provider = witness(async ({ ref }) => {
    called.resolve()
    await answer.promise
    return { category: 'successful', ref, rule: 'accepted' }
  })
  const { url } = await startBrands(t, stores, before(stores.schemas), { provider })
  await enqueue(url, ofBrand(2, 5))
  await called.promise
  const frozen = event('brand.moving')
  const moving = move(before(stores.schemas))
  await frozen
  assert.equal((await enqueue(url, ofBrand(2, 5))).status, 200, 'records are accepted until the calls are settled')
  answer.resolve()
  await moving
  const { url: there } = await startBrands(t, stores, after(stores.schemas), { provider })
  await until(() => provider.received.length === 10, { ...slow, awaited: 'the rest is delivered' })
  await until(async () => (await get(`${there}/admin/summary`)).body.lanes['2/push'].successful === 10, {
    awaited: 'all are settled',
  })
  assert.equal(new Set(provider.received.map(({ id }) => id)).size, 10)
})

test('a request with records of several brands loses only those of the brand that moves', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { url, provider } = await startBrands(t, stores, before(stores.schemas))
  const held = await holdTable(stores, stores.schemas[1], 'crm_users')
  const moving = move(before(stores.schemas))
  await held.reached()
  const refused = event('request.refused')
  assert.equal((await enqueue(url, [...ofBrand(1, 5), ...ofBrand(2, 5)])).status, 503)
  assert.match((await refused).cause ?? '', /brand 2 is being moved to store 1/)
  await until(() => sentOf(provider, '1').length === 5, { awaited: 'brand 1 is delivered' })
  await held.release()
  await moving
  const again = event('request.refused')
  assert.equal((await enqueue(url, ofBrand(2, 5))).status, 503)
  assert.match((await again).cause ?? '', /brand 2 has moved to store 1: change its store in the setting stores/)
})

test('the command is killed while it copies: nothing has moved, and a repetition moves everything', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const { url, provider } = await startBrands(t, stores, before(stores.schemas))
  await enqueue(url, ofBrand(2))
  await until(() => provider.received.length === 20, { awaited: 'the brand is delivered' })
  const held = await holdTable(stores, stores.schemas[1], 'crm_users')
  const command = await startMove(t, before(stores.schemas))
  await held.reached()
  command.child.kill('SIGKILL')
  await command.ended
  await held.release()
  await enqueue(url, ofBrand(1))
  await until(() => sentOf(provider, '1').length === 20, { awaited: 'brand 1 goes on' })
  assert.equal(await rowsIn(stores.schemas[1]), 0, 'nothing has moved')
  assert.equal((await enqueue(url, ofBrand(2))).status, 503, 'the brand is frozen until the command is repeated')

  const repeated = await runMove(t, before(stores.schemas), '2', '--to', '1', '--yes')
  assert.equal(repeated.code, 0, repeated.err)
  assert.match(repeated.out, /Brand 2 has moved from store 0 to store 1\. Now list 2 in the brands of store 1/)
  assert.equal(await rowsIn(stores.schemas[0]), 0)
  const { url: there } = await startBrands(t, stores, after(stores.schemas), { provider })
  assert.equal((await get(`${there}/admin/messages?brand=2&user_id=1001`)).body.messages.length, 20)
  const [entry] = (await get(`${there}/admin/audit?act=move-brand`)).body.entries
  assert.partialDeepStrictEqual(entry, { brand: '2', given: { source: 0, to: 1 }, store: '1' })
})

test('--abort leaves the brand of a killed command in its store', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { url, provider } = await startBrands(t, stores, before(stores.schemas))
  const held = await holdTable(stores, stores.schemas[1], 'crm_users')
  const command = await startMove(t, before(stores.schemas))
  await held.reached()
  command.child.kill('SIGKILL')
  await command.ended
  await held.release()
  stores.proxies[1].cut()
  const aborted = await runMove(t, before([stores.schemas[0], stores.urls[1]]), '2', '--abort')
  assert.equal(aborted.code, 0, `the target may be away: ${aborted.err}`)
  const { body: audit } = await get(`${url}/admin/audit?act=move-brand`)
  assert.deepEqual(audit.entries.at(0)?.given, { aborted: true })
  await until(async () => (await enqueue(url, ofBrand(2))).status === 200, { awaited: 'records are accepted' })
  await until(() => sentOf(provider, '2').length === 20, { awaited: 'the brand is served' })
  assert.equal((await runMove(t, before(stores.schemas), '2', '--abort')).code, 2, 'nothing to abort')
})
