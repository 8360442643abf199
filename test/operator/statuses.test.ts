// Delivery statuses at the operator: their sources, and polling over HTTP.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createAcceptedKeys } from '../../src/base/http/accepted-keys.ts'
import { createHttp } from '../../src/base/http/http.ts'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { readStatusPage } from '../../src/contract/status-page.ts'
import type { StatusRecord } from '../../src/contract/status-record.ts'
import type { ApiKey } from '../../src/sides/operator/options.ts'
import { statusRoutes } from '../../src/sides/operator/status-routes.ts'
import type { StatusPages } from '../../src/subjects/status/pages.ts'
import { onSqlite } from '../support/engines.ts'
import { erase } from '../support/erase.ts'
import { element, get, keys, post, startOperator, temporary, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const secret = 'the-secret-of-the-status-tests-long-enough'
const options = { status: {}, app: { secrets: [secret] } }

async function poll(url: string, after = '', key: string = keys.one.key) {
  const { status, text } = await get(`${url}/messages/status${after && `?after=${after}`}`, key)
  assert.equal(status, 200)
  const page = readStatusPage(text)
  if (typeof page === 'string') throw new Error(page)
  return { records: page.records as readonly StatusRecord[], next: page.next }
}
const shown = (records: readonly StatusRecord[]) => records.map(({ ref, status }) => [ref, status])

async function mark(url: string, userId: string, body: object, ttlSeconds = 60) {
  const token = await createSubscriberToken({ secret, brand: '1', userId, ttlSeconds })
  const headers = { authorization: `Bearer ${token}` }
  return post(`${url}/app/inbox/mark`, body, undefined, headers)
}

onSqlite('outcomes and marks are statuses, with the meta of their request byte for byte', async (t, store) => {
  const { url } = await startOperator(t, { ...options, store })
  const activity = '{ "id" : 9007199254740993, "brand_id":1,"user_id":"1001","x":1.0 }'
  const body = `{"title":"Hello","meta": {"b":1e3, "a":[]} ,"activity":${activity}}`
  const tracking = { 'x-fasttrack-id': 'f-1' }
  const { body: answer } = await post(`${url}/channels/site/single`, body, keys.one.key, tracking)
  const ref = answer.site_notification_id
  const push = (await post(`${url}/channels/push/single`, element({ id: 8 }), keys.one.key)).body.push_id
  const first = await poll(url)
  assert.deepEqual(shown(first.records), [
    [ref, 'delivered'],
    [push, 'sent'],
  ])
  const meta = `{"activity":${activity},"headers":{"x-fasttrack-id":"f-1"},"meta":{"b":1e3, "a":[]}}`
  assert.equal(first.records[0]?.meta, meta)
  assert.equal(first.records[0]?.channel, 'site')
  await mark(url, '1001', { as: 'clicked', site_notification_ids: [ref] })
  await mark(url, '1001', { as: 'read', site_notification_ids: [ref] })
  const second = await poll(url, first.next)
  assert.deepEqual(shown(second.records), [
    [ref, 'displayed'],
    [ref, 'opened'],
    [ref, 'clicked'],
  ])
  for (const record of second.records) assert.equal(record.meta, meta)
  assert.deepEqual((await poll(url, second.next)).records, [])
  const { body: shownMessage } = await get(`${url}/admin/messages/${ref}`)
  assert.equal(shownMessage.status, 'clicked')
  assert.deepEqual(
    shownMessage.statuses.map(({ status }: { status: string }) => status),
    ['delivered', 'displayed', 'opened', 'clicked'],
  )
})

test('a mark of all notifications is a status of each, and of none twice', async (t) => {
  const { url } = await startOperator(t, options)
  const batch = [element(), element(), element({ user_id: '1002' })]
  const { body } = await post(`${url}/channels/site/batch`, batch, keys.one.key)
  const [a, b] = body.successful.map((each: { site_notification_id: string }) => each.site_notification_id)
  await mark(url, '1001', { as: 'seen', site_notification_ids: [a] })
  const first = await poll(url)
  await mark(url, '1001', { as: 'dismissed', up_to: '1000' })
  assert.deepEqual(
    shown((await poll(url, first.next)).records).sort(),
    [
      [a, 'dismissed'],
      [b, 'dismissed'],
      [b, 'displayed'],
    ].sort(),
  )
})

test('a failed message has the status failed, and sent after a replay; a fatal message has none', async (t) => {
  let category: 'failed' | 'fatal' | 'successful' = 'fatal'
  const push = witness(({ ref }) => {
    if (category === 'successful') return { category, ref, rule: 'accepted' }
    if (category === 'failed') return { category, reason: 'rejected', error: 'no', rule: 'refused' }
    return { category, reason: 'unavailable', blame: 'message', error: 'no', rule: 'away' }
  })
  const { url } = await startOperator(t, { ...options, push })
  const message = element()
  const send = () => post(`${url}/channels/push/single`, message, keys.one.key)
  assert.equal((await send()).status, 503)
  assert.deepEqual((await poll(url)).records, [])
  category = 'failed'
  assert.equal((await send()).status, 422)
  const failed = await poll(url)
  assert.deepEqual(
    failed.records.map(({ status }) => status),
    ['failed'],
  )
  category = 'successful'
  const { push_id: ref } = (await send()).body
  assert.deepEqual(shown((await poll(url, failed.next)).records), [[ref, 'sent']])
  assert.equal((await get(`${url}/admin/messages/${ref}`)).body.status, 'sent')
})

test('a notification that expires before it is seen has the status expired, once', async (t) => {
  const { url } = await startOperator(t, options)
  const expiresAt = new Date(Date.now() + 1_500).toISOString()
  const send = async () =>
    (await post(`${url}/channels/site/single`, element({}, { expires_at: expiresAt }), keys.one.key)).body
      .site_notification_id
  const [unseen, seen] = [await send(), await send()]
  await mark(url, '1001', { as: 'seen', site_notification_ids: [seen] })
  let next = (await poll(url)).next
  const found: StatusRecord[] = []
  await until(
    async () => {
      const page = await poll(url, next)
      next = page.next
      found.push(...page.records)
      return found.length > 0
    },
    { withinMs: 30_000, awaited: 'the expiry is recorded' },
  )
  assert.deepEqual(
    found.map(({ ref, status, at }) => [ref, status, `${at}Z`]),
    [[unseen, 'expired', expiresAt.replace(/\.?0*Z$/, 'Z')]],
  )
})

test("another user's notification and an expired token record nothing", async (t) => {
  const { url } = await startOperator(t, options)
  const { site_notification_id: ref } = (await post(`${url}/channels/site/single`, element(), keys.one.key)).body
  const { next } = await poll(url)
  const marking = { as: 'clicked', site_notification_ids: [ref] }
  assert.deepEqual((await mark(url, '1002', marking)).body.unknown, [ref])
  assert.equal((await mark(url, '1001', marking, -10)).status, 401)
  assert.equal((await mark(url, '1001', { as: 'eaten', site_notification_ids: [ref] })).status, 400)
  assert.deepEqual((await poll(url, next)).records, [])
})

test('polling needs a key, and shows the brands of the key only', async (t) => {
  const { url } = await startOperator(t, options)
  await post(`${url}/channels/push/single`, element(), keys.one.key)
  assert.equal((await poll(url, '', keys.one.key)).records.length, 1)
  assert.equal((await poll(url, '', keys.two.key)).records.length, 0)
  assert.equal((await get(`${url}/messages/status`, 'wrong')).status, 401)
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'after=', 'after=%00'])
    assert.equal((await get(`${url}/messages/status?${query}`, keys.one.key)).status, 400, query)
})

test('one poll of a key reads at a time, four wait, and further polls are refused; another key is served', async (t) => {
  const app = createHttp('operator', 1_000)
  t.after(() => app.close())
  const reading: string[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const pages: StatusPages = {
    async read([brand]) {
      reading.push(brand as string)
      if (brand === '1') await released
      return { records: [], next: '0.0' }
    },
  }
  statusRoutes(app, { pages, keys: createAcceptedKeys<ApiKey>(Object.values(keys)) })
  const ask = (key: string) => app.inject({ url: '/messages/status', headers: { 'x-api-key': key } })
  t.after(() => release())
  const waiting = Array.from({ length: 5 }, () => ask(keys.one.key))
  await until(() => reading.length > 0, { awaited: 'the first poll reads' })
  let refused: Awaited<ReturnType<typeof ask>> | undefined
  void ask(keys.one.key).then((answer) => {
    refused = answer
  })
  const { statusCode, headers } = await until(() => refused, { awaited: 'the sixth poll is refused' })
  assert.deepEqual([statusCode, headers['retry-after']], [503, '1'])
  assert.equal((await ask(keys.two.key)).statusCode, 200)
  assert.deepEqual(reading, ['1', '2'])
  release()
  for (const each of waiting) assert.equal((await each).statusCode, 200)
  assert.equal((await ask(keys.one.key)).statusCode, 200)
})

test('a cursor of another database is answered 410, with a cursor that returns all', async (t) => {
  const { url } = await startOperator(t, options)
  await post(`${url}/channels/push/single`, element(), keys.one.key)
  const { status, body } = await get(`${url}/messages/status?after=77.other`, keys.one.key)
  assert.equal(status, 410)
  assert.match(body.error, /go on with `restart`/)
  assert.equal((await poll(url, body.restart)).records.length, 1)
})

test('without the option there are no statuses and no polling', async (t) => {
  const { url } = await startOperator(t)
  const { push_id: ref } = (await post(`${url}/channels/push/single`, element(), keys.one.key)).body
  assert.equal((await get(`${url}/messages/status`, keys.one.key)).status, 404)
  assert.equal((await get(`${url}/admin/messages/${ref}`)).body.statuses, undefined)
  const other = await startOperator(t, { status: { polling: false } })
  assert.equal((await get(`${other.url}/messages/status`, keys.one.key)).status, 404)
})

test('erasure of a user erases the meta of the statuses', async (t) => {
  const { url } = await startOperator(t, options)
  await post(`${url}/channels/push/single`, element(), keys.one.key)
  await erase(url, '1001')
  const [record] = (await poll(url)).records
  assert.equal(record?.meta, null)
})

test('statuses survive a restart of the operator, and so does the cursor', async (t: TestContext) => {
  const store = `sqlite:${await temporary(t)}/operator.db`
  const first = await startOperator(t, { ...options, store })
  await post(`${first.url}/channels/push/single`, element(), keys.one.key)
  const { next } = await poll(first.url)
  await post(`${first.url}/channels/push/single`, element(), keys.one.key)
  await first.stop()
  const second = await startOperator(t, { ...options, store })
  assert.equal((await poll(second.url, next)).records.length, 1)
})
