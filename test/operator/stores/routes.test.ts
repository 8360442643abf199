// An operator whose brands live in two databases answers as with one: every route finds the rows of a brand.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { AttributeSource } from '../../../src/attributes/attribute-source.ts'
import { metricsText } from '../../../src/runtime/metrics.ts'
import { query, withoutPostgres } from '../../support/services/postgres.ts'
import { element, get, keys, post, witness } from '../../support/sides.ts'
import { twoStores } from '../../support/two-stores.ts'
import { event, until } from '../../support/wait.ts'
import { admin, asUser, divided, poll, pollAll, sendBatch, start } from './several-stores.ts'

const skip = await withoutPostgres()
const ofBoth = (n: number, over: object = {}) =>
  Array.from({ length: n }, (_, i) => element({ brand_id: 1 + (i % 2), ...over }))
const idsOf = (batch: readonly { activity: Record<string, unknown> }[]) => batch.map(({ activity }) => activity.id)

test('one batch with messages of both brands is answered in its order, each message from the database of its brand', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const { url, provider } = await start(t, stores, divided(stores.schemas))
  const batch = ofBoth(20)
  const { status, body } = await sendBatch(url, 'push', batch)
  assert.equal(status, 200)
  assert.deepEqual(
    body.successful.map(({ id }: { id: number }) => id),
    idsOf(batch),
  )
  const again = await sendBatch(url, 'push', batch)
  assert.deepEqual(again.body, body, 'a repetition returns the identifiers')
  assert.equal(provider.received.length, 20)
  for (const [i, brand] of ['1', '2'].entries())
    assert.deepEqual(
      await query(stores.schemas[i] as string, 'select brand, count(*)::int as n from messages group by brand'),
      [{ brand, n: 10 }],
    )
  const refs = new Map(body.successful.map((each: { id: number; push_id: string }) => [each.id, each.push_id]))
  for (const { activity } of batch.slice(0, 2)) {
    const ref = refs.get(activity.id)
    const shown = (await get(`${url}/admin/messages/${ref}`)).body
    assert.deepEqual([shown.ref, shown.brand, shown.status], [ref, String(activity.brand_id), 'sent'])
    assert.equal(JSON.parse(shown.request).activity.id, activity.id)
    assert.equal((await get(`${url}/admin/messages?ref=${ref}`)).body.messages[0].ref, ref)
    assert.equal((await get(`${url}/admin/messages?id=${activity.id}`)).body.messages[0].ref, ref)
    const ofUser = (await get(`${url}/admin/messages?brand=${activity.brand_id}&user_id=1001`)).body.messages
    assert.equal(ofUser.length, 10)
  }
  assert.equal((await get(`${url}/admin/messages/0190-nothing`)).status, 404)
  const { brands, ...total } = (await get(`${url}/admin/summary`)).body
  assert.equal(total.successful, 20)
  assert.deepEqual([brands[1].successful, brands[2].successful], [10, 10])
  assert.deepEqual((await get(`${url}/readyz`)).body, { ok: true, stores: { 0: 'ok', 1: 'ok' } })
  const metrics = await metricsText()
  assert.match(metrics, /bellwire_store_bytes\{side="operator",table="messages"\}/)
  assert.match(metrics, /bellwire_store_bytes\{side="operator store 1",table="messages"\}/)
  const requestsIn = (i: 0 | 1) => query(stores.schemas[i], 'select text from requests')
  for (const [i, brand] of [1, 2].entries())
    for (const { text } of await requestsIn(i as 0 | 1)) {
      const own = (JSON.parse(text as string) as typeof batch).every(({ activity }) => activity.brand_id === brand)
      assert.ok(own, 'a database has no text of another brand, so an erasure leaves none behind')
    }
  const erased = await post(`${url}/admin/messages/erase`, { brand: '2', user_id: '1001' }, admin.key)
  assert.equal(erased.body.messages, 10)
})

test('devices and notifications of a brand are in its database', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { url, devices } = await start(t, stores, divided(stores.schemas))
  const record = (brand: string, token: string) => ({
    brand,
    user_id: '1001',
    tokens: [{ token, channel: 'android', provider: 'firebase' }],
  })
  const records = [record('2', 'b'), record('1', 'a'), record('2', 'c')]
  const linked = await post(`${url}/admin/devices/link`, records, admin.key)
  assert.deepEqual([linked.status, linked.body.linked], [200, 3])
  const countDevices = async (brand: string): Promise<number> =>
    (await get(`${url}/admin/devices?brand=${brand}&user_id=1001`, admin.key)).body.devices.length
  assert.deepEqual([await countDevices('1'), await countDevices('2')], [1, 2])
  const look = { deadline: Date.now() + 5_000, signal: AbortSignal.timeout(5_000) }
  const ofUser = (await devices.of('2', ['1001'], look)).get('1001')
  assert.equal(ofUser?.length, 2)
  await devices.remove(ofUser ?? [], 'removed by the test')
  assert.equal(await countDevices('2'), 0)
  const removed = (await get(`${url}/admin/devices/removed?brand=2`, admin.key)).body.removed
  assert.equal(removed.length, 2)
  const restored = await post(`${url}/admin/devices/restore`, { brand: '2', all: true }, admin.key)
  assert.equal(restored.body.restored, 2)
  assert.equal(await countDevices('2'), 2)
  assert.deepEqual(await query(stores.schemas[1], 'select distinct brand from devices'), [{ brand: '2' }])

  await sendBatch(url, 'site', ofBoth(4))
  for (const brand of ['1', '2']) {
    const headers = await asUser(brand)
    const listed = await fetch(`${url}/app/inbox`, { headers })
    const { items: notifications } = (await listed.json()) as { items: { site_notification_id: string }[] }
    assert.equal(notifications.length, 2, `the inbox of brand ${brand}`)
    const marked = { as: 'clicked', site_notification_ids: [notifications[0]?.site_notification_id] }
    assert.equal((await post(`${url}/app/inbox/mark`, marked, undefined, headers)).status, 200)
  }
  const { records: statuses } = await pollAll(url)
  assert.equal(statuses.filter(({ status }) => status === 'clicked').length, 2)
})

test('a message is refused if its user is blocked while it waits for the provider', { skip }, async (t) => {
  const stores = await twoStores(t)
  const blocked = new Set<string>()
  const attributes: AttributeSource = {
    name: 'test',
    fields: ['blocked'],
    among: async (_brand, userIds, fields) =>
      new Map(fields.map((field) => [field, new Set(userIds.filter((userId) => blocked.has(userId)))])),
  } as AttributeSource
  const [called, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const provider = witness(async ({ ref, userId }) => {
    if (userId === 'first') {
      called.resolve()
      await answer.promise
    }
    return { category: 'successful', ref, rule: 'accepted' }
  })
  const options = { provider, attributes, suppression: {}, limits: { providerConcurrency: 1 } }
  const { url } = await start(t, stores, { ...divided(stores.schemas), ...options })
  const first = sendBatch(url, 'push', [element({ user_id: 'first' })])
  await called.promise
  const claimed = event('message.claimed')
  const second = sendBatch(url, 'push', [element({ brand_id: 2, user_id: 'second' })])
  await claimed
  blocked.add('second')
  answer.resolve()
  assert.equal((await first).body.successful.length, 1)
  assert.equal((await second).body.failed.length, 1, 'the stores share the slots of the provider')
})

test('polling returns each status of both databases once, whatever the limit of a page', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { url } = await start(t, stores, divided(stores.schemas))
  const { body } = await sendBatch(url, 'push', ofBoth(30))
  const sent = body.successful.map((each: { push_id: string }) => each.push_id).sort()
  for (const limit of [1, 4, 7, 1_000]) {
    const { records, next } = await pollAll(url, '', limit)
    assert.deepEqual(records.map(({ ref }) => ref).sort(), sent, `limit ${limit}`)
    assert.deepEqual((await poll(url, next, limit)).records, [])
  }
  const firsts = (await poll(url, (await poll(url, '', 5)).next, 5)).records
  assert.equal(firsts.length, 5)
  const ofTwo = new Set((await query(stores.schemas[1], 'select ref from statuses')).map(({ ref }) => ref))
  assert.ok(
    firsts.every(({ ref }) => ofTwo.has(ref)),
    'a full page of one database is followed by one of the other',
  )
  const page = await poll(url, (await pollAll(url)).next, 1_000, keys.two.key)
  assert.deepEqual(page.records, [], 'a key of one brand goes on with the cursor of two')
  const { next } = await poll(url, '', 1_000, keys.two.key)
  const forgotten = await get(`${url}/messages/status?after=0-99.nothing_${next}`, keys.both.key)
  assert.equal(forgotten.status, 410)
  assert.equal((await pollAll(url, forgotten.body.restart)).records.length, 15, 'only the other database starts again')
})

test('a cursor of the time with one database goes on with the statuses that it has not seen', { skip }, async (t) => {
  const stores = await twoStores(t)
  const [store] = stores.schemas
  const alone = await start(t, stores, { store })
  await sendBatch(alone.url, 'push', [element(), element()])
  const { next } = await pollAll(alone.url)
  await sendBatch(alone.url, 'push', [element()])
  await alone.stop()
  const { url } = await start(t, stores, divided(stores.schemas))
  await sendBatch(url, 'push', [element({ brand_id: 2 })])
  assert.equal((await pollAll(url, next)).records.length, 2)
})

test('receipts and webhooks of both brands go through the databases of their brands', { skip }, async (t) => {
  const stores = await twoStores(t)
  const webhooks = ['1', '2'].map((brand) => {
    const received: string[] = []
    const sender = {
      name: `webhook of brand ${brand}`,
      max: 100,
      concurrency: 1,
      supports: () => true,
      close: async () => {},
      send: async (records: readonly { readonly ref: string; readonly status: string }[]) => {
        received.push(...records.map(({ status }) => status))
        return records.map(() => ({ category: 'successful' as const, ref: '', rule: 'accepted' }))
      },
    }
    return { brand, sender, received }
  })
  const receiptsFrom = [
    {
      name: 'vendor',
      header: 'x-secret',
      secret: 'the-secret-of-the-vendor',
      id: '/id',
      rules: [{ at: '/event', equals: 'shown', status: 'displayed' as const }],
    },
  ]
  const { url, statusesOf } = await start(t, stores, {
    ...divided(stores.schemas),
    provider: witness(),
    status: { webhooks, receiptsFrom },
  })
  const { body } = await sendBatch(url, 'push', ofBoth(4))
  const refs: string[] = body.successful.map((each: { push_id: string }) => each.push_id)
  const events = [...refs, 'unknown'].map((id) => ({ id, event: 'shown' }))
  const reported = await post(`${url}/receipts/vendor`, events, undefined, { 'x-secret': 'the-secret-of-the-vendor' })
  assert.deepEqual(reported.body, { recorded: 4, ignored: 0, unknown: ['unknown'] })
  for (const { brand, received } of webhooks)
    await until(() => received.length === 4, { awaited: `the webhook of brand ${brand}` })
  assert.equal((await statusesOf().read(refs[1] as string)).summary, 'displayed', 'found without its brand')
  const { lanes } = (await get(`${url}/admin/lanes`)).body
  assert.deepEqual(
    lanes.map(({ name }: { name: string }) => name),
    ['1/status', '2/status'],
  )
})
