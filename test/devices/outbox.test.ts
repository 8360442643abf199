// What the operator tells a platform that is not ours, over REST; the other channels differ in how it travels only.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { restPublisher } from '../../src/devices/channels/rest-publisher.ts'
import type { DeviceEvent } from '../../src/devices/device-event.ts'
import type { Publishing } from '../../src/devices/outbox.ts'
import { justAfter, readTimestamp } from '../../src/devices/timestamp.ts'
import { deviceOf } from '../suites/devices.ts'
import { onEachEngine } from '../support/engines.ts'
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
/** An event of its own time, later than all before. */
const happened = (over: Partial<DeviceEvent> = {}): DeviceEvent =>
  deviceOf({ at: readTimestamp(new Date(Date.UTC(2026, 0, 1) + ++second * 1_000).toISOString()), ...over })

onEachEngine('every link and unlink is told, of both brands, as row 18 has it', async (t, store) => {
  const platform = await foreignPlatform(t)
  const { devices } = await start(t, store, platform.url)
  const [link, unlink] = [
    happened({ origin: 'www.two.example' }),
    happened({ what: 'unlink', token: 't2', brand: '2' }),
  ]
  await devices.take([link])
  await devices.take([unlink])
  await until(() => platform.taken().length === 2, { what: 'both are told' })
  const [first, other] = platform.taken().sort((a, b) => a.what.localeCompare(b.what))
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

onEachEngine(
  'a device that is replaced by a newer one is told as unlinked, before and after which links stay',
  async (t, store) => {
    const platform = await foreignPlatform(t)
    const { devices } = await start(t, store, platform.url)
    const [old, young, younger] = ['t1', 't2', 't3'].map((token) => happened({ token }))
    await devices.take([old as DeviceEvent, young as DeviceEvent], [], 2)
    await devices.take([younger as DeviceEvent], [], 2)
    await until(() => platform.taken().length === 4, { what: 'all are told' })
    assert.partialDeepStrictEqual(
      platform.taken().find(({ what }) => what === 'unlink'),
      { body: { tokens: [{ token: 't1' }], timestamp: `${justAfter(old?.at as string)}Z` } },
    )
    // The same events in another order, at another registry: it ends the same.
    await devices.take([happened({ token: 't1' })], [], 2)
    const look = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
    const left = (await devices.of('1', ['a'], look)).get('a') ?? []
    assert.deepEqual(left.map(({ token }) => token).sort(), ['t1', 't3'])
  },
)

onEachEngine('one event after the other of a user, also where the platform stutters', async (t, store) => {
  let answers = 0
  const platform = await foreignPlatform(t, () => (++answers % 4 === 0 ? 500 : 200))
  const { devices } = await start(t, store, platform.url)
  const users = Array.from({ length: 12 }, (_, i) => `user ${i}`)
  const events = Array.from({ length: 6 }, (_, n) =>
    users.map((userId) => happened({ userId, token: `${userId} ${n}`, id: `${userId} ${n}` })),
  ).flat()
  await devices.take(events)
  await until(() => platform.taken().length === events.length, { what: 'all are told', withinMs: 20_000 })
  for (const user of users)
    assert.deepEqual(
      platform.taken().flatMap(({ body }) => (body.user_id === user ? [body.tokens[0].token] : [])),
      Array.from({ length: 6 }, (_, n) => `${user} ${n}`),
    )
})

onEachEngine(
  'row 19: what is answered with 400 is parked, listed and replayed, and the next goes on',
  async (t, store) => {
    let refuse = true
    const platform = await foreignPlatform(t, (body) => (refuse && body.tokens[0].token === 't2' ? 400 : 200))
    const { url, devices } = await start(t, store, platform.url)
    for (const token of ['t1', 't2', 't3']) await devices.take([happened({ token, id: token })])
    await until(() => platform.taken().some(({ body }) => body.tokens[0].token === 't3'), { what: 'the next goes on' })
    const parked = async () => (await get(`${url}/admin/failed?lane=1/device-links`)).body.items
    const items = await until(async () => ((await parked()).length > 0 ? parked() : undefined), { what: 'parked' })
    assert.equal(items.length, 1)
    assert.partialDeepStrictEqual(items[0], {
      user: 'a',
      reason: 'rejected',
      error: 'they say no',
      rule: 'row 19: 400',
    })
    refuse = false
    assert.deepEqual((await post(`${url}/admin/failed/replay`, { user: 'a' }, adminKey.key)).body, { count: 1 })
    await until(() => platform.taken().some(({ body }) => body.tokens[0].token === 't2'), { what: 'the replay' })
  },
)

onEachEngine('a user whose event is answered with 500 waits, the others do not', async (t, store) => {
  let broken = true
  const platform = await foreignPlatform(t, (body) => (broken && body.user_id === 'a' ? 500 : 200))
  const { devices } = await start(t, store, platform.url)
  await devices.take(
    Array.from({ length: 10 }, (_, n) =>
      ['a', 'b', 'c'].map((userId) => happened({ userId, token: `${userId}${n}`, id: `${userId}${n}` })),
    ).flat(),
  )
  await until(() => platform.taken().length === 20, { what: 'the others are told' })
  assert.equal(platform.taken().filter(({ body }) => body.user_id === 'a').length, 0)
  broken = false
  await until(() => platform.taken().length === 30, { what: 'the user is told about too' })
})

onEachEngine('a platform that is away holds the lane, which is visible, and drains by itself', async (t, store) => {
  const away = await foreignPlatform(t)
  await away.close()
  const { url, devices } = await start(t, store, away.url)
  const held = event('lane.held', ({ lane }) => lane === '1/device-links')
  for (let n = 0; n < 5; n++) await devices.take([happened({ token: `t${n}`, id: `t${n}` })])
  await held
  const lane = async () =>
    (await get(`${url}/admin/lanes`)).body.lanes.find(({ name }: { name: string }) => name === '1/device-links')
  assert.partialDeepStrictEqual(await lane(), { waiting: 5, state: 'held' })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  assert.match(metrics, /bellwire_lane_depth\{lane="1\/device-links",state="waiting"\} 5/)
  const back = await foreignPlatform(t, undefined, away.port)
  await until(() => back.taken().length === 5, { what: 'all are told' })
  await until(async () => (await lane()).waiting === 0, { what: 'nothing waits' })
})

onEachEngine('a wrong key is an alert, and loses nothing', async (t, store) => {
  let right = false
  const platform = await foreignPlatform(t, () => (right ? 200 : 401))
  const { devices } = await start(t, store, platform.url)
  const alert = event('provider.alert')
  await devices.take([happened()])
  assert.match((await alert).error, /401.*correct the address or the key/)
  right = true
  await until(() => platform.taken().length === 1, { what: 'it is told' })
})

onEachEngine('firebase only, unless set; skip_publishing tells nobody', async (t, store) => {
  const platform = await foreignPlatform(t)
  const one = await start(t, store, platform.url)
  const own = happened({ kind: 'http:own', token: 'own', id: 'own' })
  await one.devices.take([own, happened({ kind: 'apns', token: 'apns', id: 'apns', environment: 'sandbox' })])
  await one.devices.take([happened({ skipPublishing: true, token: 'skipped', id: 'skipped' })])
  await one.devices.take([happened({ kind: 'fcm_fid', token: 'fid', id: 'fid' })])
  await until(() => platform.taken().length === 1, { what: 'the one of firebase' })
  assert.deepEqual(platform.taken()[0]?.body.tokens, [
    { token: 'fid', channel: 'android', provider: 'firebase', kind: 'fcm_fid' },
  ])
  await one.stop()
  const all = await start(t, store, platform.url, { providers: 'all', origin: 'this.operator.example' })
  await all.devices.take([own, happened({ kind: 'apns', token: 'apns', id: 'apns', environment: 'sandbox' })])
  await until(() => platform.taken().length === 3, { what: 'all of them' })
  const told = platform.taken().slice(1)
  assert.ok(told.every(({ body }) => body.origin === 'this.operator.example'))
  assert.deepEqual(told.map(({ body }) => [body.tokens[0].provider, body.tokens[0].environment]).sort(), [
    ['apns', 'sandbox'],
    ['http:own', undefined],
  ])
})

onEachEngine('what has no time gets it once, later than all that is known of its device', async (t, store) => {
  const platform = await foreignPlatform(t)
  const { devices, stop } = await start(t, store, platform.url)
  const future = readTimestamp(new Date(Date.now() + 30_000).toISOString()) as string
  await devices.take([happened({ at: future })])
  await devices.take([deviceOf({ what: 'unlink' }), deviceOf({ userId: 'b' })])
  await until(() => platform.taken().length === 3, { what: 'all are told' })
  const times = platform.taken().map(({ body }) => readTimestamp(body.timestamp) as string)
  const of = (what: string, user: string): string =>
    times[platform.taken().findIndex((told) => told.what === what && told.body.user_id === user)] as string
  assert.ok(future < of('unlink', 'a') && of('unlink', 'a') < of('link', 'b'))
  const [mine] = await devices.list('1', 'b')
  assert.equal(mine?.link_at, of('link', 'b'), 'the registry knows the same time')
  await stop()
})

onEachEngine('a device that a provider proved dead, and one that was restored, are told too', async (t, store) => {
  const platform = await foreignPlatform(t)
  const { devices } = await start(t, store, platform.url)
  await devices.take([happened()])
  const look = { deadline: Date.now() + 5_000, signal: new AbortController().signal }
  const mine = (await devices.of('1', ['a'], look)).get('a') ?? []
  await devices.remove(mine, 'fcm 404 UNREGISTERED')
  await until(() => platform.taken().length === 2, { what: 'the removal is told' })
  assert.equal(platform.taken()[1]?.what, 'unlink')
  await devices.restore({ brand: '1' })
  await until(() => platform.taken().length === 3, { what: 'the restoring is told' })
  const times = platform.taken().map(({ body }) => readTimestamp(body.timestamp) as string)
  const [link, unlink, again] = times as [string, string, string]
  assert.ok(link < unlink && unlink < again)
})

onEachEngine('what was not told when the operator stopped is told by the next', async (t, store) => {
  const platform = await foreignPlatform(t)
  await platform.close()
  const first = await start(t, store, platform.url)
  for (let n = 0; n < 20; n++) await first.devices.take([happened({ token: `t${n}`, id: `t${n}` })])
  await first.stop()
  const back = await foreignPlatform(t, undefined, platform.port)
  await start(t, store, platform.url)
  await until(() => back.taken().length === 20, { what: 'all are told' })
  assert.deepEqual(
    back.taken().map(({ body }) => body.tokens[0].token),
    Array.from({ length: 20 }, (_, n) => `t${n}`),
  )
})
