// A platform whose brands live in two databases answers as with one: every route finds what belongs to it.

import assert from 'node:assert/strict'
import test from 'node:test'
import { metricsText } from '../../../src/base/runtime/metrics.ts'
import { deviceLink } from '../../../src/contract/endpoints.ts'
import { erase } from '../../support/erase.ts'
import { query, withoutPostgres } from '../../support/services/postgres.ts'
import { adminKey, element, get, post, witness } from '../../support/sides.ts'
import { twoStores } from '../../support/two-stores.ts'
import { until } from '../../support/wait.ts'
import { start } from './several-stores.ts'

const skip = await withoutPostgres()
const records = (n: number, over: object = {}) =>
  Array.from({ length: n }, (_, i) => element({ brand_id: 1 + (i % 2), ...over }))
const inStoreOne = (seq: number): boolean => Math.floor(seq / 10 ** 13) === 1

test('each message is in the database of its brand, and is found by number, id, identifier and user', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const provider = witness((m) => ({ category: 'successful', ref: `${m.brand}:${m.id}`, rule: 'accepted' }))
  const { url, enqueue } = await start(t, stores, { provider })
  const sent = records(20)
  const { body } = await enqueue(sent)
  assert.equal(body.accepted, 20)
  assert.equal((await enqueue(sent)).body.repeated, 20)
  const seqs = (body.seqs as [number, number][]).flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i),
  )
  const outcomes = await until(
    async () => {
      const found = (await post(`${url}/admin/outcomes`, { seqs }, adminKey.key)).body.outcomes
      return found.every(({ category }: { category: string }) => category === 'successful') && found
    },
    { awaited: 'all messages are delivered' },
  )
  assert.deepEqual(
    outcomes.map(({ seq }: { seq: number }) => seq),
    seqs,
    'in the order of the request',
  )
  for (const { lane, seq } of outcomes) assert.equal(inStoreOne(seq), lane === '2/push')
  for (const [i, brand] of ['1', '2'].entries())
    assert.deepEqual(
      await query(stores.schemas[i] as string, 'select lane, count(*)::int as n from items group by lane'),
      [{ lane: `${brand}/push`, n: 10 }],
    )
  const find = async (search: string) => (await get(`${url}/admin/messages?${search}`)).body.messages
  const { id } = (sent[1] as { activity: { id: number } }).activity
  assert.equal((await find(`ref=2:${id}`))[0].lane, '2/push')
  assert.equal((await find(`id=${id}`))[0].lane, '2/push')
  assert.equal((await find('brand=2&user_id=1001')).length, 10)
  const { lanes, ...total } = (await get(`${url}/admin/summary`)).body
  assert.deepEqual(total, { waiting: 0, successful: 20, failed: 0 })
  assert.deepEqual(Object.keys(lanes).sort(), ['1/push', '2/push'])
  assert.equal((await erase(url, '1001', '2')).erased.items, 10)
  const metrics = await metricsText()
  assert.match(metrics, /bellwire_lane_depth\{lane="2\/push",state="successful"\} 10/)
  assert.match(metrics, /bellwire_store_bytes\{side="platform store 1",table="items"\}/)
  assert.deepEqual((await get(`${url}/readyz`)).body, { ok: true, stores: { 0: 'ok', 1: 'ok' } })
  const [one] = await query(stores.schemas[1], `select name from migrations where name = 'queue/store-1'`)
  assert.ok(one, 'the database knows its number')
})

test('Failed Actions of two databases are one list, and a decision reaches both', { skip }, async (t) => {
  let accepts = false
  const provider = witness((m) =>
    accepts
      ? { category: 'successful', ref: m.ref, rule: 'accepted' }
      : { category: 'failed', reason: 'rejected', error: 'refused', rule: 'test' },
  )
  const { url, enqueue } = await start(t, await twoStores(t), { provider })
  await enqueue(records(10, { activity_id: 70 }))
  await until(async () => (await get(`${url}/admin/summary`)).body.failed === 10, { awaited: 'all fail' })
  const listed: { seq: number; lane: string }[] = []
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: { items: typeof listed; next?: number } = (await get(`${url}/admin/failed?limit=3&after=${after}`)).body
    listed.push(...page.items)
    after = page.next
  }
  assert.deepEqual(
    listed.map(({ lane }) => lane),
    [...Array(5).fill('1/push'), ...Array(5).fill('2/push')],
  )
  assert.equal((await get(`${url}/admin/failed?lane=2/push`)).body.items.length, 5)
  const last = listed.at(-1) as { seq: number }
  assert.equal((await get(`${url}/admin/failed/${last.seq}`)).body.lane, '2/push')
  assert.equal((await get(`${url}/admin/failed/${last.seq + 1}`)).status, 404)
  assert.equal((await get(`${url}/admin/failed/${5 * 10 ** 13 + 1}`)).status, 404, 'of a store that does not exist')
  const { groups } = (await get(`${url}/admin/failed/summary`)).body
  assert.deepEqual(
    groups.map(({ lane, pending }: Record<string, unknown>) => [lane, pending]),
    [
      ['1/push', 5],
      ['2/push', 5],
    ],
  )
  const csv = await fetch(`${url}/admin/failed.csv`, { headers: { 'x-api-key': adminKey.key } })
  assert.equal((await csv.text()).trim().split('\n').length, 11)

  const decide = async (action: string, body: object) => {
    let count = 0
    for (let after: string | undefined, more = true; more; ) {
      const answer = (await post(`${url}/admin/failed/${action}`, { ...body, ...(after && { after }) }, adminKey.key))
        .body
      count += answer.count
      after = answer.next
      more = after !== undefined
    }
    return count
  }
  assert.equal(await decide('replay', { all: true, preview: true }), 10)
  assert.equal(await decide('replay', { user: '1001', preview: true }), 10)
  assert.equal(await decide('dismiss', { seqs: [last.seq] }), 1)
  accepts = true
  assert.equal(await decide('replay', { activity: '70', per_second: 1_000 }), 9)
  await until(async () => (await get(`${url}/admin/summary`)).body.successful === 9, { awaited: 'all are delivered' })
})

test('controls and cancellations reach the lanes of their brand', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { url, enqueue, provider } = await start(t, stores)
  const control = (action: string, body: object) => post(`${url}/admin/lanes/${action}`, body, adminKey.key)
  assert.equal((await control('pause', { brand: '2', reason: 'test' })).body.lanes[0].state, 'paused')
  await control('settings', { lane: '1/push', settings: { max: 7 }, reason: 'test' })
  const countOf = async (i: 0 | 1) =>
    (await query(stores.schemas[i], 'select scope from controls order by scope')).map(({ scope }) => scope)
  assert.deepEqual([await countOf(0), await countOf(1)], [['1/push'], ['2/']])
  await enqueue(records(10))
  await until(() => provider.received.length === 5, { awaited: 'brand 1 is delivered' })
  const preview = await control('cancel/preview', { brand: '2', all: true })
  assert.equal(preview.body.count, 5)
  await control('cancel', { brand: '2', activity: '7', reason: 'test', id: 'mine' })
  await control('cancel', { brand: '1', activity: '7', reason: 'test', id: 'other' })
  const listed = await until(
    async () => {
      const { cancellations } = (await get(`${url}/admin/lanes/cancellations`)).body
      return cancellations.every((each: { done_at?: number }) => each.done_at !== undefined) && cancellations
    },
    { awaited: 'both cancellations are done' },
  )
  assert.deepEqual(
    listed.map(({ id, cancelled }: Record<string, unknown>) => [id, cancelled]),
    [
      ['other', 0],
      ['mine', 5],
    ],
  )
  assert.equal((await control('resume', { brand: '2' })).body.ended, 1)
  assert.deepEqual(
    (await get(`${url}/admin/lanes`)).body.lanes.map(({ name }: { name: string }) => name),
    ['1/push', '2/push'],
  )
})

test('devices, attributes and runs of reconciliation are in the database of their brand', { skip }, async (t) => {
  const stores = await twoStores(t)
  const operator = {
    name: 'operator of 2',
    key: 'operator-key-of-brand-2',
    scopes: ['devices'],
    brands: ['2'],
  } as const
  const nowhere = { url: 'http://127.0.0.1:9', apiKey: 'a-key-of-an-operator', fields: ['blocked'] } as const
  const { url } = await start(t, stores, {
    keys: [adminKey, operator],
    reconciliation: [
      { brand: '1', ...nowhere },
      { brand: '2', ...nowhere },
    ],
  })
  const tokens = [{ token: 't1', channel: 'android', provider: 'firebase' }]
  const record = { user_id: '1001', tokens, timestamp: '2026-01-01T10:00:00Z', origin: 'www.example.com' }
  assert.equal((await post(url + deviceLink.path, record, operator.key)).status, 200)
  assert.equal((await get(`${url}/admin/devices?brand=2&user_id=1001`)).body.devices.length, 1)
  assert.equal((await get(`${url}/admin/devices?brand=1&user_id=1001`)).body.devices.length, 0)
  assert.equal((await get(`${url}/admin/devices/removed?brand=2`)).status, 200)
  assert.equal((await post(`${url}/admin/attributes/2/1001`, { blocked: true }, adminKey.key)).status, 200)
  assert.equal((await get(`${url}/admin/attributes/2/1001`)).status, 200)
  assert.equal((await get(`${url}/admin/attributes/1/1001`)).status, 404)
  const runs = [] as string[]
  for (const brand of ['1', '2'])
    runs.push((await post(`${url}/admin/reconciliations`, { brand, field: 'blocked' }, adminKey.key)).body.run)
  const listed = (await get(`${url}/admin/reconciliations?limit=1`)).body
  assert.equal(listed.runs[0].run, runs[1])
  assert.equal((await get(`${url}/admin/reconciliations?limit=1&after=${listed.next}`)).body.runs[0].run, runs[0])
  for (const run of runs)
    await until(async () => (await get(`${url}/admin/reconciliations/${run}`)).body.state === 'refused', {
      awaited: 'the reconciler of each database executes its run',
    })
  const rows = await query(
    stores.schemas[1],
    'select brand from reconciliation_runs union all select brand from devices',
  )
  assert.deepEqual(rows, [{ brand: '2' }, { brand: '2' }])
})

test('scheduled reconciliation runs in the database of its brand only', { skip }, async (t) => {
  const stores = await twoStores(t)
  const daily = {
    url: 'http://127.0.0.1:9',
    apiKey: 'a-key-of-an-operator',
    fields: ['blocked'],
    everyMs: 86_400_000,
  } as const
  const { url } = await start(t, stores, {
    reconciliation: [
      { brand: '1', ...daily },
      { brand: '2', ...daily },
    ],
  })
  const states = async () =>
    (await get(`${url}/admin/reconciliations`)).body.runs.map(({ state }: { state: string }) => state).join()
  await until(async () => (await states()) === 'refused,refused', { awaited: 'both brands are compared' })
  for (const [i, brand] of ['1', '2'].entries())
    assert.deepEqual(await query(stores.schemas[i] as string, 'select brand from reconciliation_runs'), [{ brand }])
})
