// Delivery statuses, conversions and cursors of a brand move with it to another database.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { PlatformOptions } from '../../src/sides/platform/options.ts'
import { after, before, move } from '../platform/stores/moving.ts'
import { lane } from '../platform/stores/several-stores.ts'
import { withoutPostgres } from '../support/services/postgres.ts'
import { adminKey, element, get, post, startPlatform, witness } from '../support/sides.ts'
import { twoStores } from '../support/two-stores.ts'
import { until } from '../support/wait.ts'
import { startPolledOperator } from './polled-operator.ts'
import { report, secretOf } from './reporting.ts'

const skip = await withoutPostgres()

test('statuses, conversions and cursors are found in the new store', { skip }, async (t) => {
  const stores = await twoStores(t)
  const operator = await startPolledOperator(t)
  const provider = witness(({ id, ref }) => ({
    category: 'successful',
    ref: id === '7' ? 'ref-7' : ref,
    rule: 'accepted',
  }))
  const start = async (settings: Pick<PlatformOptions, 'store' | 'stores'>) => {
    const poll = { url: operator.url, apiKey: 'a-key-of-an-operator', everyMs: 20 }
    const status = { secrets: [secretOf('operator 1')], poll }
    const platform = await startPlatform(t, { ...settings, lanes: [{ ...lane('2', provider), status }] })
    stores.stops.push(platform.stop)
    return platform
  }
  const recordOf = (status: string, ref = 'ref-7') => ({ push_id: ref, status, timestamp: '2026-11-25T10:00:00Z' })
  const old = await start(before(stores.schemas))
  await post(`${old.url}/admin/activities/push`, [element({ id: 7, brand_id: 2 })], adminKey.key)
  const find = async (url: string) => (await get(`${url}/admin/messages?ref=ref-7`)).body.messages[0]
  const conversions = async (url: string) => (await get(`${url}/admin/conversions`)).body.groups
  await until(async () => (await find(old.url))?.outcome === 'successful', { awaited: 'the message is delivered' })
  await report(old.url, [recordOf('clicked'), recordOf('delivered', 'of a later answer')])
  operator.records.push(recordOf('displayed'))
  await until(() => operator.asked.at(-1) === 'a.1', { awaited: 'the cursor is stored' })
  const [groups, { statuses }] = await Promise.all([conversions(old.url), find(old.url)])
  assert.deepEqual([groups[0].sent, groups[0].clicked, statuses.length], [1, 1, 2])

  await old.stop()
  await move(before(stores.schemas))
  operator.asked.length = 0
  const { url } = await start(after(stores.schemas))
  assert.deepEqual(await conversions(url), groups)
  assert.deepEqual((await find(url)).statuses, statuses)
  await until(() => operator.asked.length > 0, { awaited: 'polling goes on' })
  assert.equal(operator.asked[0], 'a.1')
  await report(url, recordOf('opened'))
  assert.equal((await find(url)).statuses.length, 3)
  assert.deepEqual(await conversions(url), groups, 'the message is not counted again')
})
