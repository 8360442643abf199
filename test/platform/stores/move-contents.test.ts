// Everything of a brand is found after its move to another database.

import assert from 'node:assert/strict'
import test from 'node:test'
import { deviceLink } from '../../../src/contract/endpoints.ts'
import { platformStores } from '../../../src/sides/platform/stores.ts'
import type { Message, Result } from '../../../src/subjects/providers/provider.ts'
import { withoutPostgres } from '../../support/services/postgres.ts'
import { adminKey, element, elements, get, post, untilSettled, witness } from '../../support/sides.ts'
import { compareTables, twoStores } from '../../support/two-stores.ts'
import { event, until } from '../../support/wait.ts'
import { after, before, move, startBrands } from './moving.ts'

const skip = await withoutPostgres()
const records = (n: number, over: object = {}) => Array.from({ length: n }, () => element({ brand_id: 2, ...over }))
/** Refuses the message 900002. */
const refuseOne = (m: Message): Result =>
  m.id === '900002'
    ? { category: 'failed', reason: 'rejected', error: 'refused by the test', rule: 'test' }
    : { category: 'successful', ref: m.ref, rule: 'accepted' }
const idsOf = (sent: readonly { activity: Record<string, unknown> }[]) => sent.map(({ activity }) => activity.id)

/** Tables that a move leaves alone, because their rows belong to processes or to the database itself: a chain cannot be divided. */
const notMoved = [
  ...['audit', 'brand_moves', 'lane_owners', 'lane_processes', 'migrations', 'removal_brakes', 'removal_tallies'],
  ...['access_keys', 'alert_reports', 'side_secrets', 'stored_lanes', 'write_probes'],
]

test('the command knows every table of a platform', { skip }, async () => {
  const { found, described } = await compareTables(
    platformStores({ store: 'postgres://localhost/none' })[0].migrations,
    notMoved,
  )
  assert.deepEqual(
    found,
    described,
    'add the new table to brandTables of its migration (src/base/store/brand-table.ts)',
  )
})

test('messages, Failed Actions, attempts and calls are found in the new store, and no message is sent again', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  let refuses = true
  const provider = witness((m) =>
    m.id === '900001' && refuses
      ? { category: 'failed', reason: 'rejected', error: 'refused by the test', rule: 'test' }
      : { category: 'successful', ref: `ref ${m.id}`, rule: 'accepted' },
  )
  const old = await startBrands(t, stores, before(stores.schemas), { provider })
  const enqueue = async (url: string, sent: readonly object[]) =>
    (await post(`${url}/admin/activities/push`, sent, adminKey.key)).body
  const sent = [...records(10, { user_id: '2001' }), ...records(10)]
  await enqueue(old.url, [...sent, element({ brand_id: 2, id: 900001 })])
  // Numbers of the source lie between those of the brand, and the target has numbers of its own.
  await enqueue(old.url, elements(5, { brand_id: 1 }))
  await enqueue(old.url, elements(30, { brand_id: 3 }))
  const more = records(5)
  await enqueue(old.url, more)
  await until(() => provider.received.length === 61, { awaited: 'all are delivered' })
  const failedOf = async (url: string) => (await get(`${url}/admin/failed?lane=2/push`)).body.items[0]
  const replay = () => post(`${old.url}/admin/failed/replay`, { all: true }, adminKey.key)
  await until(async () => (await replay()).body.count === 1, { awaited: 'it is replayed' })
  await until(async () => (await failedOf(old.url))?.state === 'pending', { awaited: 'it fails again' })
  const summary = async (url: string) => (await get(`${url}/admin/summary`)).body.lanes['2/push']
  const failedBefore = (await get(`${old.url}/admin/failed/${(await failedOf(old.url)).seq}`)).body
  const summaryBefore = await summary(old.url)

  await move(before(stores.schemas))
  await old.stop()
  const { url } = await startBrands(t, stores, after(stores.schemas), { provider })
  assert.deepEqual(await summary(url), summaryBefore)
  const find = async (search: string) => (await get(`${url}/admin/messages?${search}`)).body.messages
  const [first] = idsOf(sent)
  const [byRef] = await find(`ref=${encodeURIComponent(`ref ${first}`)}`)
  assert.equal(byRef.id, String(first))
  assert.equal(byRef.outcome, 'successful')
  assert.equal(Math.floor(byRef.seq / 10 ** 13), 1, 'its number is one of store 1')
  assert.equal((await find(`id=${first}`))[0].seq, byRef.seq)
  const ofUser = (await find('brand=2&user_id=2001')) as { id: string; seq: number }[]
  assert.deepEqual(
    ofUser.map(({ id }) => id),
    idsOf(sent.slice(0, 10)).map(String).reverse(),
    'in their order, the newest first',
  )
  const failed = await failedOf(url)
  const details = (await get(`${url}/admin/failed/${failed.seq}`)).body
  assert.deepEqual({ ...details, seq: 0 }, { ...failedBefore, seq: 0 })
  assert.ok(details.history.length > 0)
  const explained = (await get(`${url}/admin/messages/${byRef.seq}`)).body
  assert.equal(explained.calls.length, 1, 'its call was copied')

  const received = provider.received.length
  const repeated = await enqueue(url, [...sent, ...more])
  assert.deepEqual([repeated.accepted, repeated.repeated], [0, 25])
  refuses = false
  await enqueue(url, records(1))
  assert.equal((await post(`${url}/admin/failed/replay`, { lane: '2/push' }, adminKey.key)).body.count, 1)
  await until(() => provider.received.length === received + 2, { awaited: 'the replayed and the new one are sent' })
})

test('deliveries by the platform itself move with their brand, with their evidence', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const options = { own: { push: witness(refuseOne), suppression: 'none' } } as const
  const enqueue = ({ url }: { url: string }, sent: readonly object[]) =>
    post(`${url}/admin/activities/push`, sent, adminKey.key)
  const old = await startBrands(t, stores, before(stores.schemas), options)
  await enqueue(old, [...records(3, { user_id: '2001' }), element({ brand_id: 2, id: 900002 }), element()])
  await untilSettled(old.url)
  const deliveryOf = async (url: string, id: string) => {
    const { messages } = (await get(`${url}/admin/messages?id=${id}`)).body
    return (await get(`${url}/admin/messages/${messages[0].seq}`)).body.delivery
  }
  const ofUser = (await get(`${old.url}/admin/messages?brand=2&user_id=2001`)).body.messages
  const ids = [...ofUser.map(({ id }: { id: string }) => id), '900002']
  const deliveries = await Promise.all(ids.map((id) => deliveryOf(old.url, id)))
  assert.equal(deliveries.at(-1).refusals.length, 1)

  await move(before(stores.schemas))
  await old.stop()
  const { url } = await startBrands(t, stores, after(stores.schemas), options)
  assert.deepEqual(await Promise.all(ids.map((id) => deliveryOf(url, id))), deliveries)
  const { messages } = (await get(`${url}/admin/people/2/2001`)).body
  assert.equal(messages.filter(({ text }: { text: string | null }) => text !== null).length, 3, 'the texts were copied')
})

test('waiting, paused and cancelled messages, controls, devices, attributes and runs move with their brand', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const operator = {
    name: 'operator of 2',
    key: 'operator-key-of-brand-2',
    scopes: ['devices'],
    brands: ['2'],
  } as const
  const options = {
    keys: [adminKey, operator],
    reconciliation: [{ brand: '2', url: 'http://127.0.0.1:9', apiKey: 'a-key-of-an-operator', fields: ['blocked'] }],
  } as const
  const provider = witness()
  const old = await startBrands(t, stores, before(stores.schemas), { ...options, provider })
  const control = (url: string, action: string, body: object) =>
    post(`${url}/admin/lanes/${action}`, body, adminKey.key)
  const enqueue = (sent: readonly object[]) => post(`${old.url}/admin/activities/push`, sent, adminKey.key)
  // A control of another brand, so that the numbers of the controls differ.
  await control(old.url, 'settings', { lane: '1/push', settings: { max: 7 }, reason: 'test' })
  await control(old.url, 'pause', { lane: '2/push', activity: '70', reason: 'kept' })
  await control(old.url, 'settings', { lane: '2/push', settings: { max: 3 }, reason: 'test' })
  const held = records(6, { activity_id: 70 })
  await enqueue(held)
  const heldBack = async (url: string) => {
    const { lanes } = (await get(`${url}/admin/lanes`)).body
    return lanes
      .find(({ name }: { name: string }) => name === '2/push')
      ?.pauses.find((each: { activity?: string }) => each.activity)?.held_back
  }
  await until(async () => (await heldBack(old.url)) === 6, { awaited: 'they are held back' })
  await control(old.url, 'pause', { brand: '2', reason: 'test' })
  const waiting = records(8)
  await enqueue(waiting)
  await control(old.url, 'cancel', { lane: '2/push', activity: '71', reason: 'test', id: 'c1' })
  const tokens = [{ token: 't1', channel: 'android', provider: 'firebase' }]
  const link = { user_id: '1001', tokens, timestamp: '2026-01-01T10:00:00Z', origin: 'www.example.com' }
  assert.equal((await post(old.url + deviceLink.path, link, operator.key)).status, 200)
  assert.equal((await post(`${old.url}/admin/attributes/2/1001`, { blocked: true }, adminKey.key)).status, 200)
  const run = await post(`${old.url}/admin/reconciliations`, { brand: '2', field: 'blocked' }, adminKey.key)
  const ended = async (url: string) => (await get(`${url}/admin/reconciliations/${run.body.run}`)).body.state
  await until(async () => (await ended(old.url)) === 'refused', { awaited: 'the run has ended' })

  const moved = event('brand.moved')
  await move(before(stores.schemas))
  await moved
  assert.equal((await post(old.url + deviceLink.path, link, operator.key)).status, 503)
  for (const path of ['devices?brand=2&user_id=1001', 'attributes/2/1001', 'messages?brand=2&user_id=1001'])
    assert.equal((await get(`${old.url}/admin/${path}`)).status, 503, `${path}: an empty answer would be wrong`)
  assert.deepEqual((await get(`${old.url}/admin/lanes`)).body.unavailable, ['2/push'])
  assert.equal((await post(`${old.url}/admin/attributes/2/1001`, { blocked: false }, adminKey.key)).status, 503)
  assert.equal((await control(old.url, 'resume', { brand: '2' })).status, 503)
  await old.stop()
  const { url } = await startBrands(t, stores, after(stores.schemas), { ...options, provider })
  assert.equal((await get(`${url}/admin/devices?brand=2&user_id=1001`)).body.devices.length, 1)
  assert.equal((await get(`${url}/admin/attributes/2/1001`)).body.attributes.blocked.value, true)
  assert.equal(await ended(url), 'refused')
  assert.equal((await get(`${url}/admin/lanes/cancellations?id=c1`)).body.cancellations.length, 1)
  assert.equal(provider.received.length, 0, 'the lane is still paused')
  const shown = async () =>
    (await get(`${url}/admin/lanes`)).body.lanes.find(({ name }: { name: string }) => name === '2/push')
  assert.equal((await shown()).settings.max.value, 3)
  assert.equal((await control(url, 'resume', { brand: '2' })).body.ended, 1)
  await until(() => provider.received.length === 8, { awaited: 'the waiting messages are sent' })
  assert.deepEqual(
    provider.received.map(({ id }) => id),
    idsOf(waiting).map(String),
    'in their order',
  )
  assert.equal(await heldBack(url), 6, 'the messages of the activity are still held back')
  await control(url, 'resume', { lane: '2/push', activity: '70' })
  await until(() => provider.received.length === 14, { awaited: 'they are sent' })
})
