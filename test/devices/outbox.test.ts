// The events that an operator publishes to a platform of another vendor, over REST. The other channels differ only in transport.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { justAfter, readTimestamp } from '../../src/contract/timestamp.ts'
import type { DeviceEvent } from '../../src/subjects/devices/device-event.ts'
import type { Publishing } from '../../src/subjects/devices/outbox.ts'
import { restPublisher } from '../../src/subjects/devices/publishers/rest-publisher.ts'
import { deviceOf } from '../suites/devices.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { adminKey, get, post, startOperator } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { foreignPlatform } from './foreign-platform.ts'

const quick = { retry: { firstMs: 5, mostMs: 20 } }

async function start(t: TestContext, store: string, url: string, over: Partial<Publishing> = {}) {
  const publish = ['1', '2'].map((brand) => ({
    brand,
    publisher: restPublisher({ url, apiKey: `key of ${brand}` }),
    ...quick,
    ...over,
  }))
  return startOperator(t, { store, publish })
}

let second = 0
/** Returns an event one second later than the previous one. */
const nextEvent = (over: Partial<DeviceEvent> = {}): DeviceEvent =>
  deviceOf({ at: readTimestamp(new Date(Date.UTC(2026, 0, 1) + ++second * 1_000).toISOString()), ...over })

onEachEngine('every link and unlink of both brands is published as a record of row 18', async (t, store) => {
  const platform = await foreignPlatform(t)
  const { devices } = await start(t, store, platform.url)
  const [link, unlink] = [
    nextEvent({ origin: 'www.two.example' }),
    nextEvent({ what: 'unlink', token: 't2', brand: '2' }),
  ]
  await devices.storeEvents([link])
  await devices.storeEvents([unlink])
  await until(() => platform.accepted().length === 2, { awaited: 'both events are published' })
  const [first, other] = platform.accepted().sort((a, b) => a.what.localeCompare(b.what))
  assert.deepEqual(first, {
    what: 'link',
    key: 'key of 1',
    status: 200,
    body: {
      user_id: 'a',
      tokens: [{ token: 'token-1', channel: 'android', provider: 'firebase' }],
      timestamp: `${link.at}Z`,
      origin: 'bellwire',
    },
  })
  assert.partialDeepStrictEqual(other, { what: 'unlink', key: 'key of 2', body: { tokens: [{ token: 't2' }] } })
})

onSqlite('an unlink is published for a device over the limit, and the device can be linked again', async (t, store) => {
  const platform = await foreignPlatform(t)
  const { devices } = await start(t, store, platform.url)
  const [old, young, younger] = ['t1', 't2', 't3'].map((token) => nextEvent({ token }))
  await devices.storeEvents([old as DeviceEvent, young as DeviceEvent], [], 2)
  await until(() => platform.accepted().length === 2, { awaited: 'the links are published' })
  await devices.storeEvents([younger as DeviceEvent], [], 2)
  await until(() => platform.accepted().length === 4, { awaited: 'all events are published' })
  assert.partialDeepStrictEqual(
    platform.accepted().find(({ what }) => what === 'unlink'),
    { body: { tokens: [{ token: 't1' }], timestamp: `${justAfter(old?.at as string)}Z` } },
  )
  // The removed device is linked again: now the device with the oldest link is removed.
  await devices.storeEvents([nextEvent({ token: 't1' })], [], 2)
  const lookUp = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
  const left = (await devices.findDevices('1', ['a'], lookUp)).get('a') ?? []
  assert.deepEqual(left.map(({ token }) => token).sort(), ['t1', 't3'])
})

onSqlite('the events of a user are published in order, even if the platform fails at times', async (t, store) => {
  let answers = 0
  const platform = await foreignPlatform(t, () => (++answers % 4 === 0 ? 500 : 200))
  const { devices } = await start(t, store, platform.url)
  const users = Array.from({ length: 12 }, (_, i) => `user ${i}`)
  const events = Array.from({ length: 6 }, (_, n) =>
    users.map((userId) => nextEvent({ userId, token: `${userId} ${n}`, id: `${userId} ${n}` })),
  ).flat()
  await devices.storeEvents(events)
  await until(() => platform.accepted().length === events.length, {
    awaited: 'all events are published',
    withinMs: 20_000,
  })
  for (const user of users)
    assert.deepEqual(
      platform.accepted().flatMap(({ body }) => (body.user_id === user ? [body.tokens[0].token] : [])),
      Array.from({ length: 6 }, (_, n) => `${user} ${n}`),
    )
})

onSqlite(
  'row 19: an event that is answered with 400 is parked, listed and replayed, and the next one is published',
  async (t, store) => {
    let refuse = true
    const platform = await foreignPlatform(t, (body) => (refuse && body.tokens[0].token === 't2' ? 400 : 200))
    const { url, devices } = await start(t, store, platform.url)
    for (const token of ['t1', 't2', 't3']) await devices.storeEvents([nextEvent({ token, id: token })])
    await until(() => platform.accepted().some(({ body }) => body.tokens[0].token === 't3'), {
      awaited: 'the next event is published',
    })
    const parked = async () => (await get(`${url}/admin/failed?lane=1/device-links`)).body.items
    const items = await until(async () => ((await parked()).length > 0 ? parked() : undefined), {
      awaited: 'the event is parked',
    })
    assert.equal(items.length, 1)
    assert.partialDeepStrictEqual(items[0], {
      user: 'a',
      reason: 'rejected',
      error: 'rejected by the test',
      rule: 'row 19: 400',
    })
    refuse = false
    assert.deepEqual((await post(`${url}/admin/failed/replay`, { user: 'a' }, adminKey.key)).body, { count: 1 })
    await until(() => platform.accepted().some(({ body }) => body.tokens[0].token === 't2'), {
      awaited: 'the replayed event is published',
    })
  },
)

onSqlite('an event that is answered with 500 delays only the events of its user', async (t, store) => {
  let broken = true
  const platform = await foreignPlatform(t, (body) => (broken && body.user_id === 'a' ? 500 : 200))
  const { devices } = await start(t, store, platform.url)
  await devices.storeEvents(
    Array.from({ length: 10 }, (_, n) =>
      ['a', 'b', 'c'].map((userId) => nextEvent({ userId, token: `${userId}${n}`, id: `${userId}${n}` })),
    ).flat(),
  )
  await until(() => platform.accepted().length === 20, { awaited: 'the events of the other users are published' })
  assert.equal(platform.accepted().filter(({ body }) => body.user_id === 'a').length, 0)
  broken = false
  await until(() => platform.accepted().length === 30, { awaited: 'the events of the user are published' })
})

onSqlite(
  'the lane is held while the platform is unavailable, and its events are published afterwards',
  async (t, store) => {
    const stopped = await foreignPlatform(t)
    await stopped.close()
    const { url, devices } = await start(t, store, stopped.url)
    const held = event('lane.held', ({ lane }) => lane === '1/device-links')
    for (let n = 0; n < 5; n++) await devices.storeEvents([nextEvent({ token: `t${n}`, id: `t${n}` })])
    await held
    const lane = async () =>
      (await get(`${url}/admin/lanes`)).body.lanes.find(({ name }: { name: string }) => name === '1/device-links')
    assert.partialDeepStrictEqual(await lane(), { waiting: 5, state: 'held' })
    const metrics = await (await fetch(`${url}/metrics`)).text()
    assert.match(metrics, /bellwire_lane_depth\{lane="1\/device-links",state="waiting"\} 5/)
    const back = await foreignPlatform(t, undefined, stopped.port)
    await until(() => back.accepted().length === 5, { awaited: 'all events are published' })
    await until(async () => (await lane()).waiting === 0, { awaited: 'the lane is empty' })
  },
)

onSqlite('a wrong key raises an alert, and no event is lost', async (t, store) => {
  let keyAccepted = false
  const platform = await foreignPlatform(t, () => (keyAccepted ? 200 : 401))
  const { devices } = await start(t, store, platform.url)
  const alert = event('provider.alert')
  await devices.storeEvents([nextEvent()])
  assert.match((await alert).error, /401.*correct the address or the key/)
  keyAccepted = true
  await until(() => platform.accepted().length === 1, { awaited: 'the event is published' })
})

onSqlite('only firebase devices are published by default, and none with skip_publishing', async (t, store) => {
  const platform = await foreignPlatform(t)
  const one = await start(t, store, platform.url)
  const own = nextEvent({ kind: 'http:own', token: 'own', id: 'own' })
  await one.devices.storeEvents([own, nextEvent({ kind: 'apns', token: 'apns', id: 'apns', environment: 'sandbox' })])
  await one.devices.storeEvents([nextEvent({ skipPublishing: true, token: 'skipped', id: 'skipped' })])
  await one.devices.storeEvents([nextEvent({ kind: 'fcm_fid', token: 'fid', id: 'fid' })])
  await until(() => platform.accepted().length === 1, { awaited: 'the firebase device is published' })
  assert.deepEqual(platform.accepted()[0]?.body.tokens, [
    { token: 'fid', channel: 'android', provider: 'firebase', kind: 'fcm_fid' },
  ])
  await one.stop()
  const all = await start(t, store, platform.url, { providers: 'all', origin: 'this.operator.example' })
  await all.devices.storeEvents([own, nextEvent({ kind: 'apns', token: 'apns', id: 'apns', environment: 'sandbox' })])
  await until(() => platform.accepted().length === 3, { awaited: 'all events are published' })
  const published = platform.accepted().slice(1)
  assert.ok(published.every(({ body }) => body.origin === 'this.operator.example'))
  assert.deepEqual(published.map(({ body }) => [body.tokens[0].provider, body.tokens[0].environment]).sort(), [
    ['apns', 'sandbox'],
    ['http:own', undefined],
  ])
})

onSqlite('an event without a time is stamped once, later than all known events of its device', async (t, store) => {
  const platform = await foreignPlatform(t)
  const { devices, stop } = await start(t, store, platform.url)
  const future = readTimestamp(new Date(Date.now() + 30_000).toISOString()) as string
  await devices.storeEvents([nextEvent({ at: future })])
  await until(() => platform.accepted().length === 1, { awaited: 'the link is published' })
  await devices.storeEvents([deviceOf({ what: 'unlink' }), deviceOf({ userId: 'b' })])
  await until(() => platform.accepted().length === 3, { awaited: 'all events are published' })
  const times = platform.accepted().map(({ body }) => readTimestamp(body.timestamp) as string)
  const of = (what: string, user: string): string =>
    times[platform.accepted().findIndex((request) => request.what === what && request.body.user_id === user)] as string
  assert.ok(future < of('unlink', 'a') && of('unlink', 'a') < of('link', 'b'))
  const [row] = await devices.list('1', 'b')
  assert.equal(row?.link_at, of('link', 'b'), 'the registry has the same time')
  await stop()
})

onEachEngine('the removal of a dead device, and its restoration, are published', async (t, store) => {
  const platform = await foreignPlatform(t)
  const { devices } = await start(t, store, platform.url)
  await devices.storeEvents([nextEvent()])
  await until(() => platform.accepted().length === 1, { awaited: 'the link is published' })
  const lookUp = { deadline: Date.now() + 5_000, signal: new AbortController().signal }
  const found = (await devices.findDevices('1', ['a'], lookUp)).get('a') ?? []
  await devices.remove(found, 'fcm 404 UNREGISTERED')
  await until(() => platform.accepted().length === 2, { awaited: 'the removal is published' })
  assert.equal(platform.accepted()[1]?.what, 'unlink')
  await devices.restore({ brand: '1' })
  await until(() => platform.accepted().length === 3, { awaited: 'the restoration is published' })
  const times = platform.accepted().map(({ body }) => readTimestamp(body.timestamp) as string)
  const [link, unlink, restored] = times as [string, string, string]
  assert.ok(link < unlink && unlink < restored)
})

onSqlite('events that are unpublished when the operator stops are published after the next start', async (t, store) => {
  const platform = await foreignPlatform(t)
  await platform.close()
  const first = await start(t, store, platform.url)
  for (let n = 0; n < 20; n++) await first.devices.storeEvents([nextEvent({ token: `t${n}`, id: `t${n}` })])
  await first.stop()
  const back = await foreignPlatform(t, undefined, platform.port)
  await start(t, store, platform.url)
  await until(() => back.accepted().length === 20, { awaited: 'all events are published' })
  assert.deepEqual(
    back.accepted().map(({ body }) => body.tokens[0].token),
    Array.from({ length: 20 }, (_, n) => `t${n}`),
  )
})
