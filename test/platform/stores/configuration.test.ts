// Errors in the division of brands over databases are found before anything is sent.

import assert from 'node:assert/strict'
import test from 'node:test'
import { checkConsistency } from '../../../src/sides/config/check-consistency.ts'
import type { Config } from '../../../src/sides/config/table.ts'
import type { PlatformOptions } from '../../../src/sides/platform/options.ts'
import type { StoreOptions } from '../../../src/subjects/brands/configured-stores.ts'
import { withoutPostgres } from '../../support/services/postgres.ts'
import { adminKey, element, post, startPlatform, witness } from '../../support/sides.ts'
import { twoStores } from '../../support/two-stores.ts'
import { until } from '../../support/wait.ts'
import { lane, start } from './several-stores.ts'

const skip = await withoutPostgres()
const main = 'postgres://user:secret@main/bellwire'
const east: StoreOptions = { number: 1, url: 'postgres://user:secret@east/bellwire', brands: ['2'] }
const west: StoreOptions = { number: 2, url: 'postgres://user:secret@west/bellwire', brands: ['3'] }

const faults: readonly (readonly [string, readonly StoreOptions[], string, RegExp])[] = [
  ['a brand in two stores', [east, { ...west, brands: ['3', '2'] }], 'stores[1].brands', /brand 2 is in .*stores\[0\]/],
  ['a number twice', [east, { ...west, number: 1 }], 'stores[1].number', /number of .*stores\[0\]/],
  [
    'the database of another store',
    [east, { ...west, url: 'postgres://other:pw@east:5432/bellwire' }],
    'stores[1].url',
    /same database/,
  ],
  ['the database of `store`', [{ ...east, url: main }], 'stores[0].url', /same database as .*store$/],
  ['a SQLite file', [{ ...east, url: 'sqlite:east.db' }], 'stores[0].url', /SQLite/],
]

for (const [title, stores, path, description] of faults)
  test(`${title} is an error of the configuration and of createPlatform, without the password`, async (t) => {
    const problems = problemsOf({ platform: { store: main, stores, keys: [], lanes: [] } })
    assert.equal(problems.length, 1)
    assert.equal(problems[0]?.path, `platform.${path}`)
    assert.match(problems[0]?.description ?? '', description)
    await assert.rejects(startPlatform(t, { store: main, stores, lanes: [] }), (error: Error) => {
      assert.ok(error.message.includes(path))
      return !error.message.includes('secret')
    })
  })

const problemsOf = (config: object) => checkConsistency(config as Config)

test('a SQLite file cannot have further stores', () => {
  const [problem] = problemsOf({ platform: { store: 'sqlite:platform.db', stores: [east], keys: [], lanes: [] } })
  assert.equal(problem?.path, 'platform.store')
  assert.match(problem?.description ?? '', /SQLite/)
})

test('the two sides share no database', () => {
  const operator = { store: main, keys: [], publish: [], attributes: [] }
  const platforms = [
    { store: main, stores: [east] },
    { store: east.url, stores: [{ ...east, url: main }] },
  ]
  assert.deepEqual(
    platforms.flatMap((platform) => problemsOf({ operator, platform: { ...platform, keys: [], lanes: [] } })),
    ['platform.store', 'platform.stores[0].url'].map((path) => ({
      path,
      description: 'is the same as operator.store',
      remedy: 'give each side its own store',
    })),
  )
})

test('a store with a number out of range is refused', async (t) => {
  const options = (over: Partial<StoreOptions>): PlatformOptions & { lanes: [] } => ({
    store: main,
    stores: [{ ...east, ...over }],
    keys: [adminKey],
    lanes: [],
  })
  for (const number of [0, 100, 1.5]) await assert.rejects(startPlatform(t, options({ number })), /stores\[0\]\.number/)
})

test('two stores cannot exchange their databases or numbers', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { stop } = await start(t, stores)
  await stop()
  const [store, url] = stores.urls
  await assert.rejects(start(t, { ...stores, urls: [url, store] }), /cannot be store 0/)
  const renumbered = { stores: [{ number: 2, url, brands: ['2'] }] }
  await assert.rejects(start(t, stores, renumbered), /store 2: .*cannot be store 2: it is another store/)
  const again = await start(t, stores)
  await again.stop()
})

test('one database under two addresses is found', { skip }, async (t) => {
  const { urls, schemas, stops } = await twoStores(t)
  await assert.rejects(start(t, { urls: [urls[0], schemas[0]], stops }), /cannot be store \d: it is another store/)
})

test('a brand cannot leave a store with messages that wait or are pending in Failed Actions', { skip }, async (t) => {
  const stores = await twoStores(t)
  const [store] = stores.urls
  const provider = witness(() => ({ category: 'failed', reason: 'rejected', error: 'refused', rule: 'test' }))
  const alone = await startPlatform(t, { store, lanes: [lane('2', provider)] })
  await post(`${alone.url}/admin/lanes/pause`, { lane: '2/push', reason: 'test' }, adminKey.key)
  await post(`${alone.url}/admin/activities/push`, element({ brand_id: 2 }), adminKey.key)
  await alone.stop()
  await assert.rejects(start(t, stores), /store 0 has messages of lane 2\/push .* brand 2 is in store 1/)

  const emptied = await startPlatform(t, { store, lanes: [lane('2', provider)] })
  await post(`${emptied.url}/admin/lanes/resume`, { lane: '2/push' }, adminKey.key)
  await until(() => provider.received.length === 1, { awaited: 'the message is sent' })
  const dismiss = () => post(`${emptied.url}/admin/failed/dismiss`, { all: true }, adminKey.key)
  await until(async () => (await dismiss()).body.count === 1, { awaited: 'the message is dismissed' })
  await emptied.stop()
  const { enqueue, provider: ofBoth } = await start(t, stores)
  await enqueue([element({ brand_id: 2 })])
  await until(() => ofBoth.received.length === 1, { awaited: 'brand 2 is served in its new store' })
})
