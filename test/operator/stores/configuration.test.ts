// Errors in the division of brands over databases are found before anything is sent.

import assert from 'node:assert/strict'
import test from 'node:test'
import { checkConsistency } from '../../../src/config/check-consistency.ts'
import type { Problem } from '../../../src/config/problem.ts'
import type { Config } from '../../../src/config/table.ts'
import { withoutPostgres } from '../../support/services/postgres.ts'
import { element, post } from '../../support/sides.ts'
import { twoStores } from '../../support/two-stores.ts'
import { admin, divided, sendBatch, start } from './several-stores.ts'

const skip = await withoutPostgres()
const main = 'postgres://user:secret@main/bellwire'
const east = { number: 1, url: 'postgres://user:secret@east/bellwire', brands: ['2'] }

function problemsOf(config: object): readonly Problem[] {
  const problems: Problem[] = []
  checkConsistency(config as Config, 'bellwire.yaml', problems)
  return problems
}

test('wrong stores are errors of the configuration and of createOperator, without the password', async (t) => {
  const operator = { store: main, stores: [east, { ...east, number: 0 }], keys: [], publish: [], attributes: [] }
  const found = problemsOf({ operator })
  assert.deepEqual(
    found.map(({ path }) => path),
    ['operator.stores[1].url', 'operator.stores[1].brands'],
  )
  const { store, stores } = operator
  await assert.rejects(start(t, { stops: [] }, { store, stores }), (error: Error) => {
    assert.match(error.message, /stores\[1\]\.number/)
    assert.match(error.message, /stores\[1\]\.brands/)
    return !error.message.includes('secret')
  })
})

test('a SQLite file cannot have further stores', () => {
  const [problem] = problemsOf({
    operator: { store: 'sqlite:operator.db', stores: [east], keys: [], publish: [], attributes: [] },
  })
  assert.equal(problem?.path, 'operator.store')
  assert.match(problem?.description ?? '', /SQLite/)
})

test('the two sides share no database', () => {
  const operator = { store: main, stores: [east], keys: [], publish: [], attributes: [] }
  const platform = { store: east.url, stores: [{ ...east, url: main }], keys: [], lanes: [] }
  assert.deepEqual(
    problemsOf({ operator, platform }).map(({ path, description }) => [path, description]),
    [
      ['platform.store', 'is the same as operator.stores[0].url'],
      ['platform.stores[0].url', 'is the same as operator.store'],
    ],
  )
})

test('two stores cannot exchange their databases', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { stop } = await start(t, stores, divided(stores.schemas))
  await stop()
  const [store, url] = stores.schemas
  await assert.rejects(start(t, stores, divided([url, store])), /cannot be store 0/)
})

test('a brand cannot leave a store with its messages or devices behind', { skip }, async (t) => {
  const stores = await twoStores(t)
  const alone = await start(t, stores, { store: stores.schemas[0] })
  await sendBatch(alone.url, 'push', [element({ brand_id: 2 })])
  await alone.stop()
  await assert.rejects(start(t, stores, divided(stores.schemas)), (error: Error) => {
    assert.match(error.message, /createOperator .*store 0 has messages of brand 2, but brand 2 is in store 1/)
    assert.match(error.message, /bellwire operator move-brand 2 --to 1/)
    return true
  })

  const others = await twoStores(t)
  const linking = await start(t, others, { store: others.schemas[0] })
  const tokens = [{ token: 'a', channel: 'android', provider: 'firebase' }]
  await post(`${linking.url}/admin/devices/link`, { brand: '2', user_id: '1001', tokens }, admin.key)
  await linking.stop()
  await assert.rejects(start(t, others, divided(others.schemas)), /store 0 has devices of brand 2/)
})
