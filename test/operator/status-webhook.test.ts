// Delivery statuses by webhook, against a platform of another vendor.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { defaultContentMapping } from '../../src/contract/content.ts'
import type { StatusRecord } from '../../src/contract/status-record.ts'
import { rfc3339, timestampOf } from '../../src/contract/timestamp.ts'
import { statusTemplate } from '../../src/subjects/status/senders/template.ts'
import { vendorCallback } from '../../src/subjects/status/senders/vendor-callback.ts'
import { type StatusWebhookOptions, statusWebhook } from '../../src/subjects/status/senders/webhook.ts'
import { receivingPlatform } from '../status/platform-of-statuses.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { erase } from '../support/erase.ts'
import { element, get, keys, post, startOperator, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const secret = `whsec_${randomBytes(24).toString('base64')}`
const quick = { retry: { firstMs: 5, mostMs: 20 } }

async function start(t: TestContext, url: string, over: Partial<StatusWebhookOptions> = {}, store?: string) {
  const webhooks = ['1', '2'].map((brand) => ({
    brand,
    sender: statusWebhook({ url, secrets: [secret], ...over }),
    ...quick,
  }))
  return startOperator(t, { status: { webhooks }, ...(store && { store }) })
}

const send = async (url: string, over: object = {}, beside: object = {}) =>
  (await post(`${url}/channels/push/single`, element(over as never, beside as never), keys.both.key)).body.push_id
const shown = (records: readonly StatusRecord[]) => records.map(({ ref, status }) => `${ref} ${status}`)

onEachEngine('every status of both brands is sent, signed, with its meta byte for byte', async (t, store) => {
  const platform = await receivingPlatform(t, [secret])
  const { url } = await start(t, `${platform.url}/integration-api/api`, { apiKey: 'key of the platform' }, store)
  const body = '{"meta": {"a":1.0},"activity":{"id":9007199254740993,"brand_id":1,"user_id":"1001"},"title":"x"}'
  const one = (await post(`${url}/channels/push/single`, body, keys.both.key)).body.push_id
  const two = await send(url, { brand_id: 2 })
  await until(() => platform.accepted().length === 2, { awaited: 'both statuses arrive' })
  const [first] = platform.accepted().filter(({ ref }) => ref === one)
  assert.deepEqual(shown(platform.accepted()).sort(), [`${one} sent`, `${two} sent`].sort())
  assert.equal(first?.meta, '{"activity":{"id":9007199254740993,"brand_id":1,"user_id":"1001"},"meta":{"a":1.0}}')
  for (const call of platform.calls) {
    assert.equal(call.path, '/integration-api/api/v1/integration/message/status')
    assert.equal(call.headers['x-api-key'], 'key of the platform')
    assert.equal(call.headers['content-type'], 'application/json')
  }
  const lanes = (await get(`${url}/admin/lanes`)).body.lanes.map(({ name }: { name: string }) => name)
  assert.deepEqual(lanes, ['1/status', '2/status'])
})

test('while a secret is replaced, platforms with the old and with the new one accept each call', async (t) => {
  const next = `whsec_${randomBytes(32).toString('base64')}`
  for (const known of [secret, next]) {
    const platform = await receivingPlatform(t, [known])
    const { url } = await start(t, platform.url, { secrets: [secret, next] })
    const ref = await send(url)
    await until(() => platform.accepted().length === 1, { awaited: 'the status arrives' })
    assert.deepEqual(shown(platform.accepted()), [`${ref} sent`])
  }
})

test('each attempt has the same id, and a new timestamp and signature; the backlog is visible and drains by itself', async (t) => {
  let away = true
  const platform = await receivingPlatform(t, [secret], () => (away ? 503 : 200))
  const { url } = await start(t, platform.url)
  const ref = await send(url)
  const began = Date.now()
  // The timestamp has seconds.
  await until(() => platform.calls.length > 1 && Date.now() - began > 1_100, { awaited: 'a second attempt' })
  const calls = platform.calls.length
  await until(() => platform.calls.length > calls, { awaited: 'an attempt a second later' })
  const sent = platform.calls.map(({ headers }) => headers)
  assert.equal(new Set(sent.map((headers) => headers['webhook-id'])).size, 1)
  assert.ok(new Set(sent.map((headers) => headers['webhook-timestamp'])).size > 1)
  assert.equal(
    new Set(sent.map((headers) => headers['webhook-signature'])).size,
    new Set(sent.map((headers) => headers['webhook-timestamp'])).size,
  )
  const [lane] = (await get(`${url}/admin/lanes`)).body.lanes
  assert.equal(lane.waiting, 1)
  assert.equal(lane.state, 'held')
  const metrics = await (await fetch(`${url}/metrics`)).text()
  assert.match(metrics, /bellwire_\w+\{[^}]*lane="1\/status"[^}]*state="waiting"[^}]*\} 1\b/)
  away = false
  await until(() => platform.accepted().length === 1, { awaited: 'the status arrives' })
  assert.deepEqual(shown(platform.accepted()), [`${ref} sent`])
})

onSqlite('the statuses of a message arrive in order, whatever fails, and each is accepted once', async (t, store) => {
  let calls = 0
  const platform = await receivingPlatform(
    t,
    [secret],
    () => [200, 500, 200, 503, 200, 200, 429][calls++ % 7] as number,
  )
  const operator = await start(t, platform.url, { max: 7 }, store)
  const refs = await Promise.all(Array.from({ length: 20 }, () => send(operator.url)))
  const steps = ['delivered', 'displayed', 'opened', 'clicked'] as const
  for (const status of steps)
    await Promise.all(
      refs.map((ref) => operator.statuses.record([{ brand: '1', ref, status, at: '2026-01-01T10:00:00' }])),
    )
  await until(() => platform.accepted().length >= 100, { awaited: 'all statuses arrive', withinMs: 60_000 })
  const arrived = Map.groupBy(platform.accepted(), ({ ref }) => ref)
  for (const ref of refs)
    assert.deepEqual(
      arrived.get(ref)?.map(({ status }) => status),
      ['sent', ...steps],
    )
})

test('a record that the platform rejects is found, parked and listed, and all others arrive', async (t) => {
  let bad = ''
  const platform = await receivingPlatform(t, [secret], (records) =>
    bad === '' ? 503 : records.some(({ ref, status }) => ref === bad && status === 'sent') ? 400 : 200,
  )
  const { url, statuses } = await start(t, platform.url)
  const refs = await Promise.all(Array.from({ length: 10 }, () => send(url)))
  const ref = refs[4] as string
  await statuses.record([{ brand: '1', ref, status: 'clicked', at: '2026-01-01T10:00:00' }])
  bad = ref
  await until(() => platform.accepted().length === 10, { awaited: 'all others arrive', withinMs: 30_000 })
  const expected = [...refs.filter((each) => each !== ref).map((each) => `${each} sent`), `${ref} clicked`]
  assert.deepEqual(shown(platform.accepted()).sort(), expected.sort())
  const listed = async (): Promise<{ reason: string; error: string }[]> =>
    (await get(`${url}/admin/failed?lane=1/status`)).body.items
  await until(async () => (await listed()).length > 0, { awaited: 'the record is listed' })
  assert.deepEqual(
    (await listed()).map(({ reason, error }) => [reason, error]),
    [['rejected', 'refused by the test']],
  )
})

test('with max 1, each body is one record', async (t) => {
  const platform = await receivingPlatform(t, [secret])
  const { url } = await start(t, platform.url, { max: 1 })
  await Promise.all([send(url), send(url)])
  await until(() => platform.accepted().length === 2, { awaited: 'both arrive' })
  for (const { body } of platform.calls) assert.equal(body[0], '{')
})

test('records with a long meta are sent in calls of at most 1 MiB', async (t) => {
  let open = false
  const platform = await receivingPlatform(t, [secret], () => (open ? 200 : 503))
  const { url } = await start(t, platform.url)
  const meta = { text: 'x'.repeat(400_000) }
  await Promise.all(Array.from({ length: 5 }, () => send(url, {}, { meta })))
  open = true
  await until(() => platform.accepted().length === 5, { awaited: 'all arrive', withinMs: 30_000 })
  for (const { body } of platform.calls) assert.ok(body.length <= 1024 * 1024)
})

test('statuses that were recorded while the platform was away are sent after a restart', async (t) => {
  const store = `sqlite:${await temporary(t)}/operator.db`
  const nobody = await receivingPlatform(t, [secret])
  await nobody.close()
  const first = await start(t, nobody.url, {}, store)
  const ref = await send(first.url)
  await first.stop()
  const platform = await receivingPlatform(t, [secret], undefined, nobody.port)
  await start(t, platform.url, {}, store)
  await until(() => platform.accepted().length === 1, { awaited: 'the status arrives', withinMs: 30_000 })
  assert.deepEqual(shown(platform.accepted()), [`${ref} sent`])
})

test('after erasure of the user, a waiting status is sent without meta', async (t) => {
  let away = true
  const platform = await receivingPlatform(t, [secret], () => (away ? 503 : 200))
  const { url } = await start(t, platform.url)
  await send(url)
  await until(() => platform.calls.length > 0, { awaited: 'a first attempt' })
  await erase(url, '1001')
  away = false
  await until(() => platform.accepted().length === 1, { awaited: 'the status arrives' })
  assert.equal(platform.accepted()[0]?.meta, null)
})

const basic = { kind: 'basic', user: 'fasttrack', password: 'p:w' } as const

test("the vendor's callback gets delivered, read and clicked of pushes, with the conversion keys", async (t) => {
  const platform = await receivingPlatform(t, [])
  const sender = vendorCallback({ url: `${platform.url}/api/webhook/callback/firebase/`, auth: basic })
  const { url, statuses } = await startOperator(t, { status: { webhooks: [{ brand: '1', sender, ...quick }] } })
  const tracking = { 'x-fasttrack-id': 'f-1', 'x-fasttrack-actioncommunicationprofileid': '5' }
  const message = element({ id: 77 }, { meta: { conversion_fasttrack_playeroriginid: 'o-1', other: 1 } })
  const ref = (await post(`${url}/channels/push/single`, message, keys.both.key, tracking)).body.push_id
  for (const status of ['delivered', 'displayed', 'opened', 'dismissed', 'clicked'] as const)
    await statuses.record([{ brand: '1', ref, status, at: '2026-01-01T10:00:00' }])
  await until(() => platform.calls.length === 3, { awaited: 'three calls' })
  const [first] = platform.calls
  assert.equal(first?.path, '/api/webhook/callback/firebase/')
  assert.equal(first?.headers.authorization, `Basic ${Buffer.from('fasttrack:p:w').toString('base64')}`)
  const bodies = platform.calls.map(({ body }) => JSON.parse(body))
  assert.deepEqual(
    bodies.map(({ action }) => action),
    ['delivered', 'read', 'clicked'],
  )
  assert.deepEqual(bodies[0].metadata, {
    conversion_fasttrack_triggerhash: 'hash',
    conversion_fasttrack_id: 'f-1',
    conversion_fasttrack_activityid: '7',
    conversion_fasttrack_actionid: '9',
    conversion_fasttrack_actiongroupid: '8',
    conversion_fasttrack_actioncommunicationprofileid: '5',
    conversion_fasttrack_userid: '1001',
    conversion_fasttrack_playeroriginid: 'o-1',
  })
})

test('a platform with calls of its own form is served by a template: method, path, headers, signature, words and meta', async (t) => {
  let refused = 0
  const platform = await receivingPlatform(t, [secret], () => (refused++ === 0 ? 409 : 200))
  const sender = statusTemplate({
    url: `${platform.url}/messages/{{push_id}}/events?channel={{channel}}`,
    method: 'PUT',
    auth: { kind: 'standard-webhooks', secret },
    secrets: [{ name: 'tenant', value: 't-1' }],
    headers: [{ name: 'X-Tenant', value: '{{secret.tenant}}' }],
    body: {
      event: '{{status}}',
      at: '{{timestamp}}',
      activity: '{{activity.activity_id}}',
      campaign: '{{meta/campaign}}',
      all: '{{meta}}',
      missing: '{{meta/nothing}}',
      user: 'user {{user_id}}',
    },
    statuses: [{ status: 'opened', as: 'read' }, { status: 'clicked' }],
    rules: [{ when: { status: 409 }, means: 'fatal' }],
  })
  const { url, statuses } = await startOperator(t, { status: { webhooks: [{ brand: '1', sender, ...quick }] } })
  const meta = '{"campaign":9007199254740993}'
  const message = `{"activity":${JSON.stringify(element().activity)},"title":"x","meta":${meta}}`
  const ref = (await post(`${url}/channels/push/single`, message, keys.both.key)).body.push_id
  const at = timestampOf(Date.now())
  for (const status of ['delivered', 'opened', 'clicked'] as const)
    await statuses.record([{ brand: '1', ref, status, at }])
  await until(() => platform.calls.length === 3, { awaited: 'the repeated call and the next one' })
  const events = platform.calls.map(({ body }) => (JSON.parse(body) as { event: string }).event)
  assert.deepEqual(events, ['read', 'read', 'clicked'], 'one call after the other, in order, until it is accepted')
  const [first] = platform.calls
  assert.equal(first?.method, 'PUT')
  assert.equal(first?.path, `/messages/${ref}/events?channel=push`)
  assert.equal(first?.headers['x-tenant'], 't-1')
  assert.equal(
    first?.body,
    `{"event":"read","at":"${rfc3339(at)}","activity":7,"campaign":9007199254740993,"all":${meta},"user":"user 1001"}`,
  )
})

test('a template that can never be sent is refused with its place', () => {
  const refusal = (over: object) => () => statusTemplate({ url: 'https://a.example/', ...over } as never)
  assert.throws(
    refusal({ body: { a: '{{stats}}' } }),
    /body\.a: there is no placeholder \{\{stats\}\}\n.*\{\{status\}\}/,
  )
  assert.throws(refusal({ url: 'https://{{brand}}.example/' }), /url: expected a URL/)
  assert.throws(refusal({ rules: [{ when: { status: 'x' }, means: 'failed' }] }), /rules\[0\]: status/)
})

test("the vendor's callback has the authentication of any address, takes the conversion keys from the push's data, and numbers stay numbers with all digits", async (t) => {
  const platform = await receivingPlatform(t, [])
  const sender = vendorCallback({
    url: `${platform.url}/callback/`,
    auth: { kind: 'bearer', token: 'of-the-callback' },
  })
  const { url, statuses } = await startOperator(t, {
    status: { webhooks: [{ brand: '1', sender, ...quick }] },
    content: { ...defaultContentMapping, meta: '/data' },
  })
  const data = '{"conversion_fasttrack_playeroriginid":5,"conversion_fasttrack_activityid":9007199254740993,"other":1}'
  const message = `{"activity":${JSON.stringify(element().activity)},"title":"x","data":${data}}`
  const ref = (await post(`${url}/channels/push/single`, message, keys.both.key)).body.push_id
  await statuses.record([{ brand: '1', ref, status: 'clicked', at: '2026-01-01T10:00:00' }])
  await until(() => platform.calls.length === 1, { awaited: 'the call' })
  assert.equal(platform.calls[0]?.headers.authorization, 'Bearer of-the-callback')
  const body = platform.calls[0]?.body ?? ''
  assert.match(body, /"conversion_fasttrack_playeroriginid":5[,}]/)
  assert.match(body, /"conversion_fasttrack_activityid":9007199254740993[,}]/)
  assert.match(body, /"conversion_fasttrack_actionid":"9"/)
  assert.doesNotMatch(body, /other/)
})

test('a webhook with a wrong address or secret is refused at once, without the secret', () => {
  assert.throws(() => statusWebhook({ url: 'platform', secrets: [secret] }), /url/)
  assert.throws(
    () => statusWebhook({ url: 'https://platform.example', secrets: ['whsec_short'] }),
    (error: Error) => /secrets\[0\]/.test(error.message) && !error.message.includes('whsec_short'),
  )
  assert.throws(() => statusWebhook({ url: 'https://platform.example', secrets: [] }), /secrets/)
})
