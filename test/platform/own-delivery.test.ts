// Lanes without an operator (§1.2, §1.4): the platform delivers through a provider of its own.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import { deviceLink } from '../../src/contract/endpoints.ts'
import { receiptToken } from '../../src/contract/receipt-token.ts'
import { refuseFatal } from '../../src/contract/refusals.ts'
import type { OwnDeliveryOptions } from '../../src/sides/platform/options.ts'
import { toLaneResults } from '../../src/sides/platform/own-delivery.ts'
import type { Result } from '../../src/subjects/providers/provider.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { erase } from '../support/erase.ts'
import { accepted, away, gone, type WitnessService, witnessService, wrongKey } from '../support/push-services.ts'
import {
  adminKey,
  element,
  enqueueAt,
  get,
  laneTo,
  post,
  startPlatform,
  untilSettled,
  witness,
} from '../support/sides.ts'
import { until } from '../support/wait.ts'

const keyOf = (brand: string) =>
  ({ name: `links ${brand}`, key: `the-key-of-links-of-brand-${brand}`, scopes: ['devices'], brands: [brand] }) as const

const lane = (brand: string, channel: 'push' | 'site' = 'push') => laneTo('own', { brand, channel })

interface Started {
  readonly url: string
  enqueue(records: readonly object[], channel?: string): Promise<void>
  link(brand: string, userId: string, token: string, provider?: string): Promise<void>
  allow(brand: string, userId: string, over?: object): Promise<void>
  message(id: number, brand?: string): Promise<Record<string, unknown> & { delivery?: Record<string, unknown> }>
  settled(): Promise<unknown>
}

async function start(
  t: TestContext,
  own: OwnDeliveryOptions,
  options: Partial<Parameters<typeof startPlatform>[1]> = {},
): Promise<Started> {
  const { url } = await startPlatform(t, {
    keys: [adminKey, keyOf('1'), keyOf('2')],
    lanes: [lane('1'), lane('2')],
    own,
    ...options,
  })
  return {
    url,
    async enqueue(records, channel = 'push') {
      const { status, text } = await enqueueAt(url, records, channel)
      assert.equal(status, 200, text)
    },
    async link(brand, userId, token, provider = 'firebase') {
      const record = {
        user_id: userId,
        tokens: [{ token, channel: 'android', provider }],
        timestamp: '2026-01-01T10:00:00Z',
        origin: 'www.example.com',
      }
      assert.equal((await post(url + deviceLink.path, record, keyOf(brand).key)).status, 200)
    },
    async allow(brand, userId, over = {}) {
      const user = { user_id: userId, consent_push_notification: true, consent_site_notification: true, ...over }
      const { status, text } = await post(`${url}/admin/attributes/${brand}`, JSON.stringify(user), adminKey.key, {
        'content-type': 'application/x-ndjson',
      })
      assert.equal(status, 200, text)
    },
    async message(id, brand = '1') {
      const { body } = await get(`${url}/admin/messages?id=${id}`)
      const found = body.messages.find((each: { lane: string }) => each.lane.startsWith(`${brand}/`))
      return (await get(`${url}/admin/messages/${found.seq}`)).body
    },
    settled: () => untilSettled(url),
  }
}

const through = (...services: readonly WitnessService[]): OwnDeliveryOptions => ({
  push: { devices: { source: 'registry', services } },
})

onEachEngine('a lane delivers to the devices that operators linked, in its own brand, each once', async (t, store) => {
  const fcm = witnessService('fcm_token')
  const { enqueue, link, allow, settled, message } = await start(t, through(fcm), { store })
  for (const brand of ['1', '2']) {
    await link(brand, '1001', `token of brand ${brand}`)
    await allow(brand, '1001')
  }
  await enqueue([element({ id: 71 }), element({ id: 71, brand_id: 2 }), element({ id: 72 })])
  await enqueue([element({ id: 71 })])
  await settled()
  const tokens = fcm.received.map(({ device, content }) => `${device.brand} ${device.token} ${content.title}`).sort()
  assert.deepEqual(tokens, ['1 token of brand 1 Hello', '1 token of brand 1 Hello', '2 token of brand 2 Hello'])
  const found = await message(71)
  assert.equal(found.outcome, 'successful')
  assert.equal(found.ref, found.delivery?.ref, 'the identifier is that of the send path')
  assert.partialDeepStrictEqual(found.delivery, {
    outcome: 'successful',
    attempts: 1,
    devices: [{ service: 'fcm_token', category: 'successful', provider_id: 'p-1' }],
  })
})

onSqlite('a blocked or excluded user, and a user without consent, is never messaged', async (t, store) => {
  const fcm = witnessService('fcm_token')
  const { url, enqueue, link, allow, settled } = await start(t, through(fcm), { store })
  for (const user of ['fine', 'blocked', 'excluded', 'unasked', 'unknown']) await link('1', user, `token of ${user}`)
  await allow('1', 'fine')
  await allow('1', 'blocked', { blocked: true })
  await allow('1', 'excluded', { excluded: true })
  await allow('1', 'unasked', { consent_push_notification: false })
  await enqueue(
    ['fine', 'blocked', 'excluded', 'unasked', 'unknown'].map((user, i) => element({ id: 80 + i, user_id: user })),
  )
  await settled()
  assert.deepEqual(
    fcm.received.map(({ device }) => device.userId),
    ['fine'],
  )
  const { body } = await get(`${url}/admin/failed?lane=1/push`)
  assert.deepEqual(body.items.map(({ reason, error }: Record<string, unknown>) => `${reason}: ${error}`).sort(), [
    'suppressed: not sent: the user has not given consent_push_notification',
    'suppressed: not sent: the user has not given consent_push_notification',
    'suppressed: not sent: the user is blocked',
    'suppressed: not sent: the user is excluded',
  ])
})

onSqlite('a device that its push service proves dead is removed, and the message fails by name', async (t, store) => {
  const fcm = witnessService('fcm_token', () => gone)
  const { url, enqueue, link, allow, settled, message } = await start(t, through(fcm), { store })
  await link('1', '1001', 't1')
  await allow('1', '1001')
  await enqueue([element({ id: 75 })])
  await settled()
  assert.equal((await message(75)).outcome, 'failed')
  const { body } = await get(`${url}/admin/devices?brand=1&user_id=1001`)
  assert.deepEqual(body.devices, [])
})

onSqlite('a wrong credential loses no device and no message', async (t, store) => {
  let wrong = true
  const fcm = witnessService('fcm_token', () => (wrong ? wrongKey : accepted))
  const { url, enqueue, link, allow, settled } = await start(t, through(fcm), { store })
  const users = Array.from({ length: 20 }, (_, i) => `user-${i}`)
  for (const user of users) {
    await link('1', user, `token of ${user}`)
    await allow('1', user)
  }
  await enqueue(users.map((user) => element({ user_id: user })))
  await until(() => fcm.received.length > 0, { awaited: 'the service was called' })
  wrong = false
  await settled()
  const delivered = new Set(fcm.received.map(({ device }) => device.userId))
  assert.equal(delivered.size, users.length)
  const { body } = await get(`${url}/admin/summary`)
  assert.deepEqual([body.successful, body.failed], [users.length, 0])
  for (const user of users)
    assert.equal((await get(`${url}/admin/devices?brand=1&user_id=${user}`)).body.devices.length, 1)
})

test('while one push service is away, the devices of another get their messages', async (t) => {
  let isAway = true
  const fcm = witnessService('fcm_token', () => (isAway ? away : accepted))
  const apns = witnessService('apns')
  const { enqueue, link, allow, settled } = await start(t, through(fcm, apns), { lanes: [lane('1')] })
  for (let i = 0; i < 40; i++) {
    await link('1', `user-${i}`, i % 2 ? `${i}`.padStart(64, 'a') : `token ${i}`, i % 2 ? 'apns' : 'firebase')
    await allow('1', `user-${i}`)
  }
  await enqueue(Array.from({ length: 40 }, (_, i) => element({ user_id: `user-${i}` })))
  await until(() => apns.received.length === 20, { awaited: 'all devices of APNs got their messages' })
  isAway = false
  await settled()
  const reached = new Set([...fcm.received, ...apns.received].map(({ device }) => device.userId))
  assert.equal(reached.size, 40)
})

test('a provider of users delivers through the same send path', async (t) => {
  const provider = witness()
  const own: OwnDeliveryOptions = { push: provider, site: provider, suppression: 'none' }
  const { enqueue, settled } = await start(t, own, { lanes: [lane('1'), lane('1', 'site')] })
  await enqueue([element({ id: 91 }), element({ id: 92 })])
  await enqueue([element({ id: 91 })], 'site')
  await settled()
  assert.deepEqual(provider.received.map(({ channel, id }) => `${channel} ${id}`).sort(), [
    'push 91',
    'push 92',
    'site 91',
  ])
})

onSqlite('a lane delivers to the inbox, which pages read and mark through the platform', async (t, store) => {
  const own: OwnDeliveryOptions = { site: 'inbox', app: { secrets: ['the-secret-of-the-subscriber-tokens'] } }
  const { url, enqueue, allow, settled, message } = await start(t, own, { store, lanes: [lane('1', 'site')] })
  await allow('1', '1001')
  await allow('1', '1002', { blocked: true })
  await enqueue([element({ id: 93 }), element({ id: 94, user_id: '1002' })], 'site')
  await settled()
  const tokenOf = async (user: string): Promise<string> =>
    (await post(`${url}/admin/subscriber-tokens`, { brand: '1', user_id: user }, adminKey.key)).body.token
  const app = async (path: string, user: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${await tokenOf(user)}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/app/${path}`, { ...init, headers })
    return { status: response.status, body: (await response.json()) as Record<string, never> }
  }
  const { body: page } = await app('inbox', '1001')
  assert.partialDeepStrictEqual(page, { items: [{ title: 'Hello' }], unseen: 1, unread: 1 })
  const { ref } = await message(93)
  const marked = await app('inbox/mark', '1001', {
    method: 'POST',
    body: JSON.stringify({ as: 'clicked', site_notification_ids: [ref] }),
  })
  assert.partialDeepStrictEqual(marked.body, { unseen: 0, unread: 0, unknown: [] })
  assert.equal((await app('inbox', '1002')).status, 403, 'a blocked user has no inbox')
  const linked = await app('devices/link', '1001', {
    method: 'POST',
    body: JSON.stringify({ tokens: [{ token: 't', channel: 'android', provider: 'firebase' }] }),
  })
  assert.deepEqual(linked, { status: 200, body: { accepted: 1 } })
  assert.partialDeepStrictEqual((await erase(url, '1001')).erased, { inbox: 2, devices: 1 })
})

const appSecret = 'the-secret-of-the-subscriber-tokens'

/** Calls /app as a page of the user does. */
async function callApp(url: string, path: string, body: unknown, userId = '1001') {
  const { token } = (await post(`${url}/admin/subscriber-tokens`, { brand: '1', user_id: userId }, adminKey.key)).body
  return post(`${url}/app/${path}`, body, undefined, { authorization: `Bearer ${token}` })
}

const conversionsOf = async (url: string) => (await get(`${url}/admin/conversions?by=action`)).body.groups

onSqlite(
  'the marks of an own inbox are statuses, counted and shown like those that an operator reports, with the meta',
  async (t, store) => {
    const own: OwnDeliveryOptions = { site: 'inbox', suppression: 'none', app: { secrets: [appSecret] } }
    const { url, enqueue, settled, message } = await start(t, own, { store, lanes: [lane('1', 'site')] })
    await enqueue([element({ id: 101 }, { meta: { campaign: 5 } }), element({ id: 102 }), element({ id: 103 })], 'site')
    await settled()
    const { ref } = await message(101)
    const second = await message(102)
    await callApp(url, 'inbox/mark', { as: 'clicked', site_notification_ids: [ref] })
    await callApp(url, 'inbox/mark', { as: 'seen', site_notification_ids: [second.ref] })
    await until(async () => (await conversionsOf(url))[0]?.clicked === 1, { awaited: 'the click is counted' })
    assert.partialDeepStrictEqual(await conversionsOf(url), [
      { lane: '1/site', activity: '7', sent: 3, delivered: 3, displayed: 2, clicked: 1, failed: 0 },
    ])
    const shown = (await message(101)) as unknown as { status: string; statuses: { status: string; meta: string }[] }
    assert.equal(shown.status, 'clicked')
    assert.deepEqual(
      shown.statuses.map(({ status }) => status),
      ['delivered', 'displayed', 'opened', 'clicked'],
    )
    for (const { meta } of shown.statuses)
      assert.partialDeepStrictEqual(JSON.parse(meta), { activity: { id: 101 }, meta: { campaign: 5 } })
    const { conversions } = (await get(`${url}/admin/conversions/messages?stage=clicked`)).body
    assert.partialDeepStrictEqual(conversions, [{ ref, stage: 'clicked' }])
    await erase(url, '1001')
    const [{ seq }] = (await get(`${url}/admin/messages?ref=${ref}`)).body.messages
    const erased = (await get(`${url}/admin/messages/${seq}`)).body as typeof shown
    assert.deepEqual(
      erased.statuses.map((each) => each.meta),
      [undefined, undefined, undefined, undefined],
      'the meta of the user is erased',
    )
  },
)

onSqlite('an own lane records what apps, browsers and providers report about pushes', async (t, store) => {
  const own: OwnDeliveryOptions = {
    push: witness(({ ref, userId }) =>
      userId === 'refused'
        ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
        : { category: 'successful', ref, rule: 'accepted' },
    ),
    suppression: 'none',
    app: { secrets: [appSecret] },
    receiptsFrom: [
      {
        name: 'pager',
        header: 'authorization',
        secret: 'Bearer of the pager',
        id: '/id',
        rules: [{ at: '/type', equals: 'delivered', status: 'delivered' }],
      },
    ],
  }
  const { url, enqueue, settled, message } = await start(t, own, { store, lanes: [lane('1')] })
  await enqueue([111, 112, 113, 114].map((id) => element({ id })))
  await enqueue([element({ id: 115, user_id: 'refused' })])
  await settled()
  const [app, browser, pager] = await Promise.all([111, 112, 113].map(async (id) => (await message(id)).ref as string))
  const statuses = [{ push_id: app, status: 'clicked', timestamp: '2020-01-01T10:00:00Z' }]
  assert.deepEqual((await callApp(url, 'status', { statuses }, '1002')).body, { unknown: [app] }, 'another user')
  assert.deepEqual((await callApp(url, 'status', { statuses })).body, { unknown: [] })
  const token = receiptToken(appSecret, { brand: '1', ref: browser as string })
  const receipt = { authorization: `Bearer ${token}` }
  assert.equal((await post(`${url}/app/receipts`, { status: 'displayed' }, undefined, receipt)).status, 200)
  const events = [
    { id: pager, type: 'delivered' },
    { id: 'no message', type: 'delivered' },
  ]
  const { body } = await post(`${url}/receipts/pager`, events, undefined, { authorization: 'Bearer of the pager' })
  assert.deepEqual(body, { recorded: 1, ignored: 0, unknown: ['no message'] })
  await until(async () => (await conversionsOf(url))[0]?.delivered === 3, { awaited: 'the reports are counted' })
  assert.partialDeepStrictEqual(await conversionsOf(url), [
    { lane: '1/push', sent: 4, delivered: 3, displayed: 2, clicked: 1, failed: 1 },
  ])
  assert.equal((await message(114)).status, 'sent')
  const clicked = (await message(111)).statuses as { status: string; at: string }[]
  assert.ok(
    clicked.every(({ at }) => at > '2026'),
    'a status is not before its message',
  )
  assert.equal((await message(115)).status, 'failed')
  const reported = (await message(112)).statuses as { status: string; meta: string }[]
  assert.deepEqual(
    reported.map(({ status }) => status),
    ['sent', 'displayed'],
  )
  for (const { meta } of reported) assert.partialDeepStrictEqual(JSON.parse(meta), { activity: { id: 112 } })
})

onSqlite('a notification of an own lane that expires before it is seen has the status expired', async (t, store) => {
  const own: OwnDeliveryOptions = { site: 'inbox', suppression: 'none' }
  const { enqueue, settled, message } = await start(t, own, { store, lanes: [lane('1', 'site')] })
  await enqueue([element({ id: 121 }, { expires_at: new Date(Date.now() + 600_000).toISOString() })], 'site')
  await settled()
  t.mock.method(clock, 'now', () => Date.now() + 900_000)
  const statuses = await until(
    async () => {
      const found = ((await message(121)).statuses ?? []) as { status: string }[]
      return found.length === 2 && found.map(({ status }) => status)
    },
    { awaited: 'the expiry is recorded' },
  )
  assert.deepEqual(statuses, ['delivered', 'expired'])
})

test('the texts of a user are erased from the send path too', async (t) => {
  const own: OwnDeliveryOptions = { push: witness(), suppression: 'none' }
  const { url, enqueue, settled } = await start(t, own)
  await enqueue([element({ id: 95 }), element({ id: 96, user_id: '1002' })])
  await settled()
  assert.partialDeepStrictEqual((await erase(url, '1001')).erased, { items: 1, messages: 1 })
})

test('a lane with its own provider needs a provider of that channel', async (t) => {
  await assert.rejects(
    start(t, { push: witness() }, { lanes: [lane('1', 'site')] }),
    /lanes\[0\]\.provider: the platform has no provider of its own for site messages/,
  )
})

test('a paused service does not hold the lane if another message of the call was settled', () => {
  const done: Result = { category: 'successful', ref: 'r', rule: 'accepted', writes: [] }
  const paused = refuseFatal('paused', { retryAfterMs: 5_000 })
  const blames = (results: readonly Result[]) =>
    toLaneResults(results).map((each) => (each.category === 'fatal' ? each.blame : each.category))
  assert.deepEqual(blames([done, paused]), ['successful', 'message'])
  assert.deepEqual(blames([paused, paused]), ['provider', 'provider'])
  assert.deepEqual(toLaneResults([done]), [{ category: 'successful', ref: 'r', rule: 'accepted' }])
})
