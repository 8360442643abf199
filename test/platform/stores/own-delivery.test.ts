// Lanes without an operator whose brands live in two databases.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { deviceLink } from '../../../src/contract/endpoints.ts'
import type { LaneOptions, PlatformOptions } from '../../../src/sides/platform/options.ts'
import { witnessService } from '../../support/push-services.ts'
import { withoutPostgres } from '../../support/services/postgres.ts'
import { adminKey, element, get, post, startPlatform } from '../../support/sides.ts'
import { type TwoStores, twoStores } from '../../support/two-stores.ts'
import { event, until } from '../../support/wait.ts'
import { after, before, move } from './moving.ts'
import { lane } from './several-stores.ts'

const skip = await withoutPostgres()
const slow = { withinMs: 30_000 }
const linksOf = (brand: string) =>
  ({ name: `links ${brand}`, key: `the-key-of-links-of-brand-${brand}`, scopes: ['devices'], brands: [brand] }) as const
const site = (brand: string): LaneOptions => ({ ...lane(brand, 'own'), channel: 'site' })

async function start(t: TestContext, { stops }: TwoStores, options: Pick<PlatformOptions, 'store' | 'stores'>) {
  const fcm = witnessService('fcm_token')
  const platform = await startPlatform(t, {
    keys: [adminKey, linksOf('1'), linksOf('2')],
    lanes: [lane('1', 'own'), lane('2', 'own'), site('1'), site('2')],
    own: {
      push: { devices: { source: 'registry', services: [fcm] } },
      site: 'inbox',
      app: { secrets: ['the-secret-of-the-subscriber-tokens'] },
    },
    ...options,
  })
  stops.push(platform.stop)
  const { url } = platform
  return {
    ...platform,
    fcm,
    async link(brand: string) {
      const tokens = [{ token: `token of brand ${brand}`, channel: 'android', provider: 'firebase' }]
      const record = { user_id: '1001', tokens, timestamp: '2026-01-01T10:00:00Z', origin: 'www.example.com' }
      assert.equal((await post(url + deviceLink.path, record, linksOf(brand).key)).status, 200)
    },
    async allow(brand: string, over: object = {}) {
      const user = { consent_push_notification: true, consent_site_notification: true, ...over }
      assert.equal((await post(`${url}/admin/attributes/${brand}/1001`, user, adminKey.key)).status, 200)
    },
    async enqueue(channel: string, brands: readonly number[]) {
      const records = brands.map((brand) => element({ brand_id: brand }, { title: `Brand ${brand}` }))
      assert.equal((await post(`${url}/admin/activities/${channel}`, records, adminKey.key)).status, 200)
    },
    async app(brand: string, path: string, body?: object) {
      const of = { brand, user_id: '1001' }
      const { token } = (await post(`${url}/admin/subscriber-tokens`, of, adminKey.key)).body
      const response = await fetch(`${url}/app/${path}`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
      // biome-ignore lint/suspicious/noExplicitAny: tests read any part of an answer
      return { status: response.status, body: (await response.json()) as any }
    },
    settled: () =>
      until(async () => (await get(`${url}/admin/summary`)).body.waiting === 0, {
        ...slow,
        awaited: 'all messages are settled',
      }),
  }
}

test('each brand is delivered with the users, the devices and the inbox of its own database', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { fcm, link, allow, enqueue, app, settled } = await start(t, stores, {
    store: stores.urls[0],
    stores: [{ number: 1, url: stores.urls[1], brands: ['2'] }],
  })
  for (const brand of ['1', '2']) await link(brand)
  await allow('1', { excluded: true })
  await allow('2')
  await enqueue('push', [1, 2])
  await enqueue('site', [1, 2])
  await settled()
  assert.deepEqual(
    fcm.received.map(({ device }) => device.token),
    ['token of brand 2'],
    'the user 1001 of brand 1 is excluded, the user 1001 of brand 2 is not',
  )
  assert.partialDeepStrictEqual((await app('2', 'inbox')).body, { items: [{ title: 'Brand 2' }], unseen: 1 })
  assert.equal((await app('1', 'inbox')).status, 403)
  await allow('1', { excluded: false, reason: 'the test' })
  assert.deepEqual((await app('1', 'inbox')).body.items, [], 'the excluded user got no notification')
})

test('while one database is away, the lanes of the other one deliver', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { fcm, link, allow, enqueue } = await start(t, stores, {
    store: stores.urls[0],
    stores: [{ number: 1, url: stores.urls[1], brands: ['2'] }],
  })
  for (const brand of ['1', '2']) {
    await link(brand)
    await allow(brand)
  }
  for (const [lost, rest] of [
    [0, 2],
    [1, 1],
  ] as const) {
    const [noticed, received] = [event('store.lost', undefined, slow), fcm.received.length]
    stores.proxies[lost].cut()
    await noticed
    await enqueue('push', [rest])
    await until(() => fcm.received.length === received + 1, { ...slow, awaited: 'the message is delivered' })
    assert.equal(fcm.received.at(-1)?.device.brand, String(rest))
    const back = event('store.back', undefined, slow)
    stores.proxies[lost].restore()
    await back
  }
})

test('the inbox of a brand moves with it, with the marks of the users', { skip }, async (t) => {
  const stores = await twoStores(t)
  const old = await start(t, stores, before(stores.schemas))
  for (const brand of ['1', '2']) await old.allow(brand)
  await old.enqueue('site', [1, 2, 2])
  await old.settled()
  const [first] = (await old.app('2', 'inbox')).body.items
  const marked = await old.app('2', 'inbox/mark', { as: 'read', site_notification_ids: [first.site_notification_id] })
  assert.equal(marked.status, 200)
  const shown = (await old.app('2', 'inbox')).body
  assert.deepEqual([shown.items.length, shown.unread], [2, 1])

  await move(before(stores.schemas))
  await old.stop()
  const moved = await start(t, stores, after(stores.schemas))
  const { items, unseen, unread } = (await moved.app('2', 'inbox')).body
  assert.deepEqual([items, unseen, unread], [shown.items, shown.unseen, shown.unread])
  assert.equal((await moved.app('1', 'inbox')).body.items.length, 1, 'the other brand keeps its own')
  await moved.enqueue('site', [2])
  await moved.settled()
  assert.equal((await moved.app('2', 'inbox')).body.items.length, 3)
})
