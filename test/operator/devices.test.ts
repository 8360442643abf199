// The operator's endpoints to link and unlink devices, over HTTP: apps use a subscriber token, services use a key.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { clock } from '../../src/base/runtime/clock.ts'
import { on } from '../../src/base/runtime/events.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import type { DeviceAnswer } from '../../src/subjects/providers/push-service.ts'
import { subscription } from '../devices/subscription.ts'
import { onEachEngine, onPostgres, onSqlite } from '../support/engines.ts'
import { accepted, gone, witnessService } from '../support/push-services.ts'
import { type Answer, adminKey, element, get, keys, post, startOperator, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const secret = 'the-secret-of-the-device-tests-long-enough'
const origin = 'https://www.larkspur.example'
const app = { secrets: [secret], origins: [origin] }
const services = { name: 'backend', key: 'the-key-of-the-backend', scopes: ['devices', 'counts', 'read'] } as const
const ofOne = {
  name: 'backend of brand 1',
  key: 'the-backends-key-of-brand-1',
  scopes: ['devices'],
  brands: ['1'],
} as const
const adminKeys = [adminKey, services, ofOne]
const start = (t: TestContext, over: Parameters<typeof startOperator>[1] = {}) =>
  startOperator(t, { app, adminKeys, ...over })
const bearer = async (brand: string, userId = '1001') => ({
  authorization: `Bearer ${await createSubscriberToken({ secret, brand, userId })}`,
})
/** Links or unlinks tokens as the app of the user of a bearer. */
const asApp = (url: string, what: 'link' | 'unlink', tokens: readonly unknown[], user: Record<string, string>) =>
  post(`${url}/app/devices/${what}`, { tokens }, undefined, user)
const fcm = (token: string) => ({ token, provider: 'firebase', channel: 'android' })
const devicesOf = async (url: string, brand: string, userId = '1001'): Promise<Answer['body'][]> =>
  (await get(`${url}/admin/devices?brand=${brand}&user_id=${userId}`)).body.devices

onSqlite('an app links and unlinks the devices of its user, in the brand of its token', async (t, store) => {
  const { url } = await start(t, { store })
  const one = await bearer('1')
  const linked = await asApp(url, 'link', [fcm('t1'), fcm('t2')], one)
  assert.deepEqual([linked.status, linked.text], [200, '{"accepted":2}'])
  await asApp(url, 'link', [fcm('t1')], await bearer('2'))
  const mine = await fetch(`${url}/app/devices`, { headers: { ...one, origin } })
  assert.equal(mine.headers.get('access-control-allow-origin'), origin)
  const { devices } = (await mine.json()) as { devices: Answer['body'][] }
  assert.equal(devices.length, 2)
  assert.ok(
    devices.every((device) => device.user_id === '1001' && device.kind === 'fcm_token' && device.origin === 'app'),
  )

  const out = await asApp(url, 'unlink', [fcm('t1')], one)
  assert.deepEqual([out.status, out.text], [200, '{"accepted":1}'])
  assert.equal((await devicesOf(url, '1')).length, 1)
  assert.equal((await devicesOf(url, '2')).length, 1)
  assert.equal((await asApp(url, 'unlink', [], one)).text, '{"accepted":0}')
})

onSqlite(
  'made-up tokens of many users do not stop the removals; tokens that accepted a push before do',
  async (t, store) => {
    let answer: DeviceAnswer = gone
    const service = witnessService('fcm_token', () => answer)
    const push = { devices: { source: 'registry', services: [service] } } as const
    const { url } = await start(t, { store, push })
    const pushTo = (user: string): Promise<Answer[]> =>
      Promise.all(
        Array.from({ length: 110 }, (_, i) =>
          post(`${url}/channels/push/single`, element({ user_id: `${user}-${i}` })),
        ),
      )
    const linkAll = (user: string): Promise<Answer[]> =>
      Promise.all(
        Array.from({ length: 110 }, async (_, i) =>
          asApp(url, 'link', [fcm(`${user}-${i}`)], await bearer('1', `${user}-${i}`)),
        ),
      )
    const stopped = async (): Promise<boolean> => (await get(`${url}/admin/devices/removals`)).body.services[0].stopped
    await linkAll('made-up')
    await pushTo('made-up')
    assert.equal(await stopped(), false)
    assert.deepEqual(await devicesOf(url, '1', 'made-up-0'), [])

    await linkAll('real')
    answer = accepted
    await pushTo('real')
    await linkAll('real')
    answer = gone
    await pushTo('real')
    assert.equal(await stopped(), true)
  },
)

onSqlite('an app cannot act for another user, and the clock of its device does not matter', async (t, store) => {
  const { url } = await start(t, { store })
  const one = await bearer('1')
  const other = await post(`${url}/app/devices/link`, { user_id: '2002', tokens: [fcm('t1')] }, undefined, one)
  assert.equal(other.status, 403)
  for (const headers of [{}, { authorization: 'Bearer nonsense' }, { authorization: `Bearer ${adminKey.key}` }])
    for (const path of ['link', 'unlink']) {
      const refused = await post(`${url}/app/devices/${path}`, { tokens: [fcm('t1')] }, adminKey.key, headers)
      assert.equal(refused.status, 401)
      assert.equal(typeof refused.body.error, 'string')
    }
  // The user logs out. Then a phone whose clock is in the last century logs in.
  await asApp(url, 'unlink', [fcm('t1')], one)
  const again = { user_id: '1001', tokens: [fcm('t1')] }
  assert.equal((await post(`${url}/app/devices/link`, again, undefined, one)).status, 200)
  assert.equal((await devicesOf(url, '1')).length, 1)
})

onSqlite('an app must not send time, origin or skip_publishing: the error names the field', async (t, store) => {
  const { url } = await start(t, { store })
  for (const [name, value] of Object.entries({
    timestamp: '1999-01-01T00:00:00Z',
    origin: 'www.two.example',
    skip_publishing: true,
  }))
    for (const what of ['link', 'unlink']) {
      const body = { tokens: [fcm('t1')], [name]: value }
      const refused = await post(`${url}/app/devices/${what}`, body, undefined, await bearer('1'))
      assert.equal(refused.status, 400)
      assert.match(refused.body.error, new RegExp(`^${name} is not accepted from an app`))
    }
  assert.deepEqual(await devicesOf(url, '1'), [])
  await post(`${url}/app/devices/link`, { tokens: [fcm('t1')], more: 1 }, undefined, await bearer('1'))
  assert.equal((await devicesOf(url, '1'))[0]?.origin, 'app')
})

test('a user who links too often is limited; another user, and a logout, are not', async (t) => {
  const { url } = await start(t, {
    push: { devices: { source: 'registry', services: [witnessService('fcm_token')] } },
    testing: { appPerMinute: 3 },
  })
  const [one, two] = [await bearer('1'), await bearer('2')]
  for (const token of ['a', 'b', 'c']) assert.equal((await asApp(url, 'link', [fcm(token)], one)).status, 200)
  const refused = await asApp(url, 'link', [fcm('d')], one)
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal((await asApp(url, 'link', [fcm('d')], two)).status, 200)
  assert.equal((await asApp(url, 'unlink', [fcm('a')], one)).status, 200)
})

onSqlite(
  'of fifty devices that an app links in a day a user keeps the last twenty, and more are refused',
  async (t, store) => {
    const service = { ...witnessService('fcm_token'), name: 'fcm' }
    const { url } = await start(t, {
      store,
      push: { devices: { source: 'registry', services: [service] } },
      testing: { appPerMinute: 2_000 },
    })
    const one = await bearer('1')
    const link = (tokens: unknown[]) => asApp(url, 'link', tokens, one)
    const series = async () =>
      (await (await fetch(`${url}/metrics`)).text()).match(/bellwire_devices_linked.*/g)?.length
    await link([fcm('first')])
    const before = await series()
    for (const token of Array.from({ length: 48 }, (_, i) => fcm(`t-${i}`)))
      assert.equal((await link([token])).status, 200)
    assert.equal((await link([fcm('the last')])).status, 200)
    const refused = await link([fcm('one more')])
    assert.equal(refused.status, 429)
    assert.match(refused.body.error, /more than 50 tokens of this user within a day/)
    assert.equal((await link([fcm('the last')])).status, 200, 'a known token is linked at any time')
    assert.equal((await asApp(url, 'unlink', [fcm('the last')], one)).status, 200)
    assert.equal((await link([fcm('the last')])).status, 200)
    const devices = await devicesOf(url, '1')
    assert.equal(devices.length, 20)
    assert.equal(devices[0]?.device, deviceId('the last'))
    assert.equal(await series(), before)
    assert.equal((await post(`${url}/channels/push/single`, element())).status, 200)
    assert.equal(service.received.length, 20)
    const { body } = await link(Array.from({ length: 21 }, (_, i) => fcm(`too many ${i}`)))
    assert.match(body.error, /a user may have 20 devices/)
  },
)

test('an app changes ten devices in a minute', async (t) => {
  const { url } = await start(t)
  const one = await bearer('1')
  const link = (tokens: unknown[]) => asApp(url, 'link', tokens, one)
  const ten = Array.from({ length: 10 }, (_, i) => fcm(`t-${i}`))
  assert.equal((await link(ten)).status, 200)
  assert.equal((await link([fcm('t-10')])).status, 429)
  assert.equal((await link([...ten, fcm('t-10')])).status, 400)
})

test('a user that sends too many changes gets each refusal a second late', async (t) => {
  const { url } = await start(t, { testing: { appPerMinute: 1 } })
  const one = await bearer('1')
  const link = (token: string) => asApp(url, 'link', [fcm(token)], one)
  assert.equal((await link('a')).status, 200)
  const answers: (() => void)[] = []
  t.mock.method(clock, 'setTimeout', (answer: () => void, ms: number) => {
    if (ms === 1_000) answers.push(answer)
    return setTimeout(() => {}, 0)
  })
  let answered = false
  const refused = link('b').finally(() => (answered = true))
  await until(() => answers.length === 1, { awaited: 'the refusal waits' })
  assert.equal(answered, false)
  answers[0]?.()
  assert.equal((await refused).status, 429)
})

test('a token of FCM has at most 512 characters, of APNs 400, a PushSubscription 4,096', async (t) => {
  const { url } = await start(t)
  const one = await bearer('1')
  const link = (token: string, provider: string) => asApp(url, 'link', [{ token, provider, channel: 'web' }], one)
  for (const [provider, most, expected] of [
    ['firebase', 512, /^tokens\[0\]\.token is too long: \w+ has at most 512 characters/],
    ['apns', 400, /^tokens\[0\]\.token is no token of APNs: send its hexadecimal digits, at most 400/],
  ] as const) {
    assert.equal((await link('a'.repeat(most), provider)).status, 200)
    const refused = await link('a'.repeat(most + 1), provider)
    assert.equal(refused.status, 400)
    assert.match(refused.body.error, expected)
  }
  assert.equal((await link(subscription(`https://push.example/${'a'.repeat(1_000)}`).token, 'webpush')).status, 200)
})

onSqlite(
  'an app links only devices that a push service reaches; a service links any kind, but no provider that nobody configured',
  async (t, store) => {
    const { url } = await start(t, {
      store,
      push: { devices: { source: 'registry', services: [witnessService('fcm_token')] } },
    })
    const token = { token: 't1', provider: 'http:made-up' }
    const refused = await asApp(url, 'link', [token], await bearer('1'))
    assert.deepEqual(
      [refused.status, refused.body.error],
      [400, 'tokens[0] is not accepted: no configured push service can reach it (http:made-up)'],
    )
    const byService = (given: object) =>
      post(`${url}/admin/devices/link`, { brand: '1', user_id: '1001', tokens: [given] }, services.key)
    for (const provider of ['http:made-up', 'android', 'ios']) {
      const { status, body } = await byService({ token: 't1', provider })
      assert.deepEqual(
        [status, body.error.replace(/\(.*/, '')],
        [400, refused.body.error.replace(/\(.*/, '')],
        provider,
      )
    }
    assert.equal((await byService({ token: 'a1', provider: 'apns', app: 'not.configured.yet' })).body.linked, 1)
    assert.ok(!(await (await fetch(`${url}/metrics`)).text()).includes('made-up'))
    const out = await asApp(url, 'unlink', [token], await bearer('1'))
    assert.equal(out.status, 200, 'a device that no push service reaches can be unlinked')
    assert.equal((await devicesOf(url, '1')).length, 1)
  },
)

onSqlite('a user has at most 200 devices from services', async (t, store) => {
  const { url } = await start(t, { store })
  for (const part of ['a', 'b', 'c']) {
    const tokens = Array.from({ length: 100 }, (_, i) => fcm(`${part}-${i}`))
    await post(`${url}/admin/devices/link`, { brand: '1', user_id: '1001', tokens }, services.key)
  }
  assert.equal((await devicesOf(url, '1')).length, 200)
  const { removed } = (await get(`${url}/admin/devices/removed?brand=1`)).body
  assert.equal(removed[0].why, 'replaced: the user has more than 200 devices')
})

test('pages of an allowed origin pass the CORS preflight', async (t) => {
  const { url } = await start(t)
  for (const [path, method] of [
    ['/app/devices', 'GET'],
    ['/app/devices/link', 'POST'],
    ['/app/inbox', 'GET'],
  ]) {
    const preflight = await fetch(url + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method as string,
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    assert.equal(preflight.status, 204, path)
    assert.equal(preflight.headers.get('access-control-allow-origin'), origin, path)
    assert.ok(preflight.headers.get('access-control-allow-methods')?.includes(method as string), path)
  }
})

onSqlite(
  'a service links one record, an array, or lines; invalid records are reported, and the others are accepted',
  async (t, store) => {
    const { url } = await start(t, { store })
    const link = (body: unknown, key: string = services.key, headers = {}) =>
      post(`${url}/admin/devices/link`, body, key, headers)
    const record = (over: object = {}) => ({ brand: '1', user_id: '1001', tokens: [fcm('t1')], ...over })
    assert.deepEqual((await link(record())).body, {
      accepted: 1,
      linked: 1,
      moved: 0,
      unlinked: 0,
      unchanged: 0,
      refused_count: 0,
      refused: [],
    })
    assert.equal((await link(record({ brand: 2 }))).body.linked, 1)
    assert.equal((await link(record({ brand: undefined, user_id: '3' }), ofOne.key)).body.moved, 1)

    const bad = await link(record({ tokens: [{ token: 'secret-token', provider: '!' }] }))
    assert.equal(bad.status, 400)
    assert.ok(!bad.text.includes('secret-token'))
    const many = await link([record({ user_id: 7 }), record({ user_id: 'x' }), record({ brand: 'one' }), 5])
    assert.equal(many.status, 200)
    assert.deepEqual([many.body.accepted, many.body.refused_count], [1, 3])
    assert.deepEqual(
      many.body.refused.map(({ line }: { line: number }) => line),
      [1, 3, 4],
    )

    const at = '2020-01-01T00:00:00Z'
    const lines = [record({ tokens: [fcm('t9')], timestamp: at }), record({ timestamp: 'now' })].map((line) =>
      JSON.stringify(line),
    )
    const ndjson = { 'content-type': 'application/x-ndjson' }
    const streamed = await link(`${lines.join('\n')}\n{"user_id":"secret-token\n`, services.key, ndjson)
    assert.deepEqual(
      [streamed.body.linked, streamed.body.refused.map(({ line }: { line: number }) => line)],
      [1, [2, 3]],
    )
    assert.ok(!streamed.text.includes('secret-token'))
    assert.equal((await devicesOf(url, '1')).find(({ device }) => device)?.linked_at, at, 'a service may set the time')

    assert.equal((await link(record(), adminKey.key)).status, 403, 'the key lacks the scope devices')
    assert.equal((await link(record({ brand: '2' }), ofOne.key)).status, 403)
    assert.equal((await link(record(), 'unknown')).status, 401)
    assert.equal((await link('')).status, 400)
    assert.equal((await link(Array.from({ length: 1_001 }, () => record()))).status, 413)
    const gone = await post(`${url}/admin/devices/unlink`, record({ user_id: 'x' }), services.key)
    assert.equal(gone.body.unlinked, 1)
    assert.deepEqual(await devicesOf(url, '1', 'x'), [])
  },
)

test('a device is shown without its token', async (t) => {
  const { url } = await start(t)
  const { token, endpoint, keys: secrets } = subscription('https://push.example/send/very-secret')
  await asApp(url, 'link', [{ token, provider: 'webpush' }, fcm('abcdefghijklmnop')], await bearer('1'))
  const { text, body } = await get(`${url}/admin/devices?brand=1&user_id=1001`)
  assert.equal(body.devices.length, 2)
  for (const part of [endpoint, secrets.auth, secrets.p256dh, 'very-secret', 'abcdefg']) assert.ok(!text.includes(part))
  assert.deepEqual(
    new Set(body.devices.map((device: { token: string }) => device.token)),
    new Set(['push.example/…', 'abcd…']),
  )
})

test('an endpoint that judgeDevice refuses is not linked', async (t) => {
  const judgeDevice = ({ token }: { token: string }) => (token.includes('127.0.0.1') ? 'a private address' : undefined)
  const { url } = await start(t, { judgeDevice })
  const one = await bearer('1')
  const link = (endpoint: string) =>
    asApp(url, 'link', [{ token: subscription(endpoint).token, provider: 'webpush' }], one)
  const refused = await link('https://127.0.0.1/x')
  assert.deepEqual([refused.status, /private address/.test(refused.body.error)], [400, true])
  assert.equal((await link('https://push.example/x')).status, 200)
})

onEachEngine('removals are listed page by page and restored by filter, with the scope decide', async (t, store) => {
  const operator = createOperator({ store, keys: [keys.both], adminKeys, suppression: 'none' })
  assert.throws(() => operator.devices, /start\(\)/)
  await operator.start()
  await operator.stop(1_000)
  const { url, devices: registry } = await startOperator(t, { store, adminKeys })
  for (const brand of ['1', '2'])
    for (const user of ['a', 'b', 'c'])
      await post(`${url}/admin/devices/link`, { brand, user_id: user, tokens: [fcm(`token-of-${user}`)] }, services.key)
  const look = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
  const found = [...(await registry.findDevices('1', ['a', 'b', 'c'], look)).values()].flat()
  await registry.remove(found, 'wrong project')
  assert.deepEqual(await devicesOf(url, '1', 'a'), [])

  const removed = async (query: string): Promise<Answer['body']> =>
    (await get(`${url}/admin/devices/removed?${query}`)).body
  const first = await removed('brand=1&limit=2&why=wrong project')
  assert.equal(first.removed.length, 2)
  const second = await removed(`brand=1&limit=2&after=${encodeURIComponent(first.next)}`)
  assert.deepEqual([second.removed.length, second.next], [1, null])
  assert.ok(first.removed.every((one: Answer['body']) => one.restorable && one.why === 'wrong project'))
  assert.equal((await removed('brand=2')).removed.length, 0)
  assert.equal((await removed('brand=1&since=2099-01-01T00:00:00Z')).removed.length, 0)

  const restore = (body: object, key: string = adminKey.key) => post(`${url}/admin/devices/restore`, body, key)
  assert.equal((await restore({ brand: '1', all: true }, services.key)).status, 403)
  assert.equal((await restore({})).status, 400)
  assert.equal((await restore({ brand: '1', reason: 'typing error' })).status, 400)
  assert.equal((await restore({ brand: '2', all: true })).body.restored, 0)
  assert.equal((await restore({ brand: '1', user_id: 'a' })).body.restored, 1)
  assert.equal((await restore({ brand: '1', why: 'wrong project' })).body.restored, 2)
  assert.equal((await devicesOf(url, '1', 'b')).length, 1)
})

/** User 1001 logs out while a message to them waits for the service's only slot, which another message occupies. */
async function logoutWhileWaiting(t: TestContext, store: string, processes: 1 | 2): Promise<void> {
  const first = Promise.withResolvers<DeviceAnswer>()
  const service = witnessService(
    'fcm_token',
    ({ device: { token } }) => (token === 'the first' ? first.promise : accepted),
    { concurrency: 1 },
  )
  const push = { devices: { source: 'registry', services: [service] } } as const
  const sender = await start(t, { store, push })
  const loggedOutAt = processes === 1 ? sender : await start(t, { store, push })
  const waitingUser = await bearer('1')
  const link = (token: string, user: Record<string, string>) => asApp(sender.url, 'link', [fcm(token)], user)
  await Promise.all([
    link('the first', await bearer('1', '1002')),
    link('t1', waitingUser),
    link('t2', await bearer('2')),
  ])

  const sendTo = (user: string, brand = 1) =>
    post(`${sender.url}/channels/push/single`, element({ user_id: user, brand_id: brand }))
  const blocking = sendTo('1002')
  await until(() => service.received.length === 1, { awaited: 'the slot is occupied' })
  const { devices: registry } = sender
  const { findDevices: of } = registry
  let found = 0
  registry.findDevices = async (...query) => {
    const devices = await of(...query)
    found++
    return devices
  }
  const waiting = sendTo('1001')
  await until(() => found === 1, { awaited: 'the devices of user 1001 are found: the message waits' })
  const out = await asApp(loggedOutAt.url, 'unlink', [fcm('t1')], waitingUser)
  assert.equal(out.status, 200)
  first.resolve(accepted)
  assert.equal((await blocking).status, 200)
  assert.equal((await waiting).status, 422)
  assert.deepEqual(
    service.received.map(({ device }) => device.token),
    ['the first'],
  )
  assert.equal((await sendTo('1001', 2)).status, 200, 'the same user id of the other brand')
}

onSqlite('a confirmed logout is respected by a waiting send', (t, store) => logoutWhileWaiting(t, store, 1))

onPostgres(
  'a logout that one operator process confirmed is respected by a waiting send of another process',
  (t, store) => logoutWhileWaiting(t, store, 2),
)

test('confirmed links and unlinks survive a restart', async (t) => {
  const store = `sqlite:${join(await temporary(t), 'operator.db')}`
  const first = await start(t, { store })
  await asApp(first.url, 'link', [fcm('t1'), fcm('t2')], await bearer('1'))
  await asApp(first.url, 'unlink', [fcm('t1')], await bearer('1'))
  await first.stop()
  const second = await start(t, { store })
  assert.equal((await devicesOf(second.url, '1')).length, 1)
})

test('no event carries a token', async (t) => {
  const { url } = await start(t)
  const seen: unknown[] = []
  const offs = (['request.refused', 'device.linked', 'device.unlinked', 'device.moved', 'store.repeated'] as const).map(
    (name) => on(name, (happened) => seen.push(happened)),
  )
  const canary = 'canary-token-0123456789'
  const one = await bearer('1')
  for (const what of ['link', 'unlink', 'link'] as const) {
    await asApp(url, what, [fcm(canary)], one)
    await asApp(url, what, [{ token: canary, provider: '?' }], one)
    await post(`${url}/app/devices/${what}`, `{"tokens":[{"token":"${canary}"`, undefined, one)
    await asApp(url, what, [{ token: canary, provider: 'webpush' }], one)
  }
  for (const off of offs) off()
  assert.ok(seen.length > 8)
  assert.ok(!JSON.stringify(seen).includes('canary'))
})
