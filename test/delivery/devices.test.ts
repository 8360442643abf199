// Messages to the devices of their users, over HTTP, with two push services.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { OperatorOptions } from '../../src/sides/operator/options.ts'
import { functionSource } from '../../src/subjects/attributes/function.ts'
import type { PushDevices } from '../../src/subjects/delivery/compose.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import type { DeviceAnswer, Push } from '../../src/subjects/providers/push-service.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import {
  accepted,
  away,
  type DeviceBook,
  device,
  deviceBook,
  gone,
  mismatch,
  type WitnessService,
  witnessService,
  wrongKey,
} from '../support/push-services.ts'
import { adminKey, element, get, keys, post, startOperator } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

const single = '/channels/push/single'
const batch = '/channels/push/batch'

/** User 1001 of two brands; user 1001 of brand 1 has three devices, one of them with the same token as the device of brand 2. */
const defaultDevices: readonly Device[] = [
  device({ token: 'a-1' }),
  device({ token: 'f-1', kind: 'fcm_token' }),
  device({ token: 'shared', kind: 'fcm_token' }),
  device({ brand: '2', token: 'shared', kind: 'fcm_token' }),
  device({ userId: '1002', token: 'a-2' }),
]

interface Setup {
  readonly url: string
  readonly book: DeviceBook
  readonly apns: WitnessService
  readonly fcm: WitnessService
}

async function start(
  t: TestContext,
  store: string,
  {
    apns: apnsAnswers,
    fcm: fcmAnswers,
    devices = defaultDevices,
    push = {},
    ...options
  }: {
    apns?: (push: Push) => DeviceAnswer | Promise<DeviceAnswer>
    fcm?: (push: Push) => DeviceAnswer | Promise<DeviceAnswer>
    devices?: readonly Device[]
    push?: Partial<PushDevices>
  } & Partial<Omit<OperatorOptions, 'push'>> = {},
): Promise<Setup> {
  const book = deviceBook(devices)
  const apns = witnessService('apns', apnsAnswers, { name: 'my apns' })
  const fcm = witnessService('fcm_token', fcmAnswers, { name: 'my fcm' })
  const { url } = await startOperator(t, {
    store,
    ...options,
    push: { devices: { source: book, services: [apns, fcm], ...push } },
  })
  return { url, book, apns, fcm }
}

const tokens = (service: WitnessService): string[] => service.received.map((push) => push.device.token).sort()

onSqlite(
  'a device gets the presentation of its service, app and activity, and its url if the message has none',
  async (t, store) => {
    const presentation = [
      { badge: 1, url: 'app://home' },
      { services: ['my fcm'], activities: ['20'], androidChannel: 'offers' },
    ]
    const { url, apns, fcm } = await start(t, store, { push: { presentation } })
    await post(url + single, element({ activity_id: 20 }, { url: undefined }))
    await post(url + single, element({ id: 2, activity_id: 21 }, { url: 'https://www.example.com' }))
    const seen = (service: WitnessService) =>
      service.received
        .filter(({ device }) => device.token !== 'shared')
        .map(({ content, presentation: { url: _, ...rest } = {} }) => [content.url, rest])
    assert.deepEqual(seen(apns), [
      ['app://home', { badge: 1 }],
      ['https://www.example.com', { badge: 1 }],
    ])
    assert.deepEqual(seen(fcm), [
      ['app://home', { badge: 1, androidChannel: 'offers' }],
      ['https://www.example.com', { badge: 1 }],
    ])
  },
)

onSqlite('a message is sent to every device of its user and brand, through the right service', async (t, store) => {
  const { url, apns, fcm } = await start(t, store)
  const answer = await post(url + single, element({}, { data: { deal: 7 } }))
  assert.equal(answer.status, 200)
  assert.deepEqual(tokens(apns), ['a-1'])
  assert.deepEqual(tokens(fcm), ['f-1', 'shared'])
  assert.ok(fcm.received.every((push) => push.device.brand === '1'))
  const { push_id } = answer.body
  for (const { ref, content } of [...apns.received, ...fcm.received]) {
    assert.equal(ref, push_id)
    assert.deepEqual(content, { title: 'Hello', body: 'There', data: '{"deal":7}' })
  }
  const details = (await get(`${url}/admin/messages/${push_id}`)).body
  assert.equal(details.rule, 'accepted (3 of 3 devices)')
  assert.deepEqual(details.devices.map((each: { service: string }) => each.service).sort(), [
    'my apns',
    'my fcm',
    'my fcm',
  ])
  assert.partialDeepStrictEqual(details.devices[0], {
    attempt: 1,
    category: 'successful',
    provider_id: 'p-1',
    uncertain: 0,
  })
  for (const token of ['a-1', 'f-1', 'shared'])
    assert.ok(!JSON.stringify(details).includes(`"${token}"`), 'a token is in the answer')
})

onSqlite('one device that accepts makes a message successful, and it is not sent again', async (t, store) => {
  const { url, apns, fcm } = await start(t, store, { apns: () => gone, fcm: () => away })
  const one = element()
  const refused = await post(url + single, one)
  assert.equal(refused.status, 503, refused.text)
  const mixed = await start(t, `${store}2`, {
    apns: () => accepted,
    fcm: () => away,
  })
  const two = element()
  for (let i = 0; i < 2; i++) assert.equal((await post(mixed.url + single, two)).status, 200)
  assert.equal(mixed.apns.received.length, 1)
  assert.equal(mixed.fcm.received.length, 2)
  assert.equal(apns.received.length, 1)
  assert.equal(fcm.received.length, 2)
})

onSqlite(
  'a message to a user without a device is failed with a clear reason; the same id of another brand is another user',
  async (t, store) => {
    const { url, apns, fcm } = await start(t, store)
    const answer = await post(url + single, element({ user_id: '1003' }))
    assert.equal(answer.status, 422)
    assert.match(answer.body.error, /no device/)
    assert.equal((await post(url + single, element({ user_id: '1002', brand_id: 2 }))).status, 422)
    assert.equal(apns.received.length + fcm.received.length, 0)
    const answered = await post(url + batch, [element({ user_id: '1003' }), element({ user_id: '1002' })])
    assert.equal(answered.body.failed.length, 1)
    assert.equal(answered.body.successful.length, 1)
  },
)

onSqlite('a named target is used only if it belongs to this user of this brand now', async (t, store) => {
  const { url, book, apns, fcm } = await start(t, store)
  book.unlinked.add('1 old')
  const named = (token: unknown, over = {}) => post(url + single, element(over, { token }))
  assert.equal((await named('a-1')).status, 200)
  assert.equal((await named('shared', { brand_id: 2 })).status, 200)
  assert.equal(fcm.received[0]?.device.brand, '2', 'the device of the other brand with the same token')
  const refusals: [unknown, RegExp, object?][] = [
    ['a-2', /belongs to another user/],
    ['a-1', /never linked/, { brand_id: 2 }],
    ['a-1', /belongs to another user/, { user_id: '1002' }],
    ['old', /was unlinked/],
    ['never-seen', /never linked.*unregistered_targets/],
  ]
  for (const [token, why, over] of refusals) {
    const answer = await named(token, over)
    assert.equal(answer.status, 422, `${token}: ${answer.text}`)
    assert.match(answer.body.error, why)
    assert.ok(!answer.text.includes('1002'), 'the owner of the token is in the answer')
  }
  assert.equal(apns.received.length, 1)
  const both = await post(url + single, element({}, { tokens: ['a-2', 'a-1'] }))
  assert.equal(both.status, 200, 'one of the two targets is valid')
  assert.deepEqual(tokens(apns), ['a-1', 'a-1'])
})

onSqlite('an unregistered target is refused if its token is of another user or was unlinked', async (t, store) => {
  const { url, book, fcm } = await start(t, store, {
    push: { unregisteredTargets: { kind: 'fcm_token' } },
    fcm: () => gone,
  })
  book.unlinked.add('1 old')
  const statuses: Record<string, number> = {}
  for (const token of ['never-seen', 'a-2', 'old'])
    statuses[token] = (await post(url + single, element({}, { token }))).status
  assert.deepEqual(statuses, { 'never-seen': 422, 'a-2': 422, old: 422 })
  assert.deepEqual(tokens(fcm), ['never-seen'])
  assert.deepEqual(book.dropped, [], 'a token that was never linked is not unlinked')
})

onSqlite('a device that no service reaches is failed with a remedy, and raises one alert', async (t, store) => {
  const alert = event('provider.alert')
  const { url } = await start(t, store, { devices: [device({ kind: 'webpush' })] })
  const answer = await post(url + single, element())
  assert.equal(answer.status, 422)
  assert.match(answer.body.error, /no push service reaches a device of kind webpush: add one under/)
  assert.match((await alert).error, /webpush/)
})

onSqlite(
  'a message to an app or environment that is missing in the settings of its service is fatal, so it is not lost',
  async (t, store) => {
    const apns = witnessService('apns')
    const picky = { ...apns, reaches: ({ kind, app }: Device) => kind === 'apns' && app !== 'com.other' }
    const { url } = await startOperator(t, {
      store,
      push: { devices: { source: deviceBook([device({ app: 'com.other' })]), services: [picky] } },
    })
    const alert = event('provider.alert')
    const answer = await post(url + single, element())
    assert.equal(answer.status, 503)
    assert.match(answer.body.error, /apns does not reach a device of kind apns of the app com\.other: add the app/)
    assert.equal((await alert).provider, 'apns')
  },
)

onSqlite('a slow service does not delay another service', async (t, store) => {
  const gate = Promise.withResolvers<DeviceAnswer>()
  const { url, apns, fcm } = await start(t, store, {
    fcm: () => gate.promise,
    devices: [
      ...defaultDevices,
      ...Array.from({ length: 300 }, (_, i) => device({ userId: `f${i}`, token: `f${i}`, kind: 'fcm_token' })),
    ],
  })
  const slow = post(
    url + batch,
    Array.from({ length: 300 }, (_, i) => element({ user_id: `f${i}` })),
  )
  await until(() => fcm.received.length === 100, { awaited: 'the slow service is at its limit' })
  assert.equal((await post(url + single, element({ user_id: '1002' }))).status, 200)
  assert.equal(apns.received.length, 1)
  gate.resolve(accepted)
  assert.equal((await slow).body.successful.length, 300)
})

onSqlite('Retry-After of a service is passed on, and only messages for this service wait', async (t, store) => {
  const { url, fcm } = await start(t, store, {
    fcm: () => ({ ...away, reason: 'rate_limited', retryAfterMs: 30_000 }),
  })
  const limited = await post(url + single, element({ brand_id: 2 }))
  assert.equal(limited.status, 503)
  assert.equal(limited.headers.get('retry-after'), '30')
  assert.equal((await post(url + single, element({ brand_id: 2 }))).status, 503)
  assert.equal(fcm.received.length, 1, 'not called while it is paused')
  for (let i = 0; i < 10; i++) assert.equal((await post(url + single, element({ user_id: '1002' }))).status, 200)
})

onSqlite(
  'a dead device is unlinked in its source with the settle; a device that accepts or has a later link is not',
  async (t, store) => {
    const since = Date.parse('2026-01-01T00:00:00Z')
    const { url, book } = await start(t, store, {
      devices: [...defaultDevices, device({ userId: '1003', token: 'a-3', linkedAt: '2026-01-01T00:00:00.1Z' })],
      apns: ({ device: { token } }) => (token === 'a-1' ? gone : { ...gone, goneSince: since }),
    })
    const dropped = event('device.dropped')
    assert.equal((await post(url + single, element())).status, 200)
    assert.deepEqual(book.dropped, [{ device: defaultDevices[0], why: 'my apns: 410' }])
    assert.partialDeepStrictEqual(await dropped, { brand: '1', service: 'my apns', why: '410' })
    assert.equal((await post(url + single, element({ user_id: '1003' }))).status, 422)
    assert.equal(book.dropped.length, 1)
  },
)

onSqlite('before the first accepted send, a mismatch removes no device and loses no message', async (t, store) => {
  const { url, book } = await start(t, store, {
    apns: ({ device: { token } }) => (token === 'a-2' ? accepted : mismatch),
  })
  const only = element({ user_id: '1001' }, { token: 'a-1' })
  assert.equal((await post(url + single, only)).status, 503)
  assert.deepEqual(book.dropped, [])
  const good = element({ user_id: '1002' })
  await until(async () => (await post(url + single, good)).status === 200, { awaited: 'the pause is over' })
  assert.equal((await post(url + single, only)).status, 422)
  assert.equal(book.dropped.length, 1)
})

onSqlite(
  'after a hundred removals no device is removed until a person confirms over HTTP; the messages are failed either way',
  async (t, store) => {
    const many = Array.from({ length: 150 }, (_, i) => device({ userId: `u${i}`, token: `a-${i}` }))
    const { url, book } = await start(t, store, { devices: many, apns: () => gone })
    const all = many.map(({ userId }) => element({ user_id: userId }))
    const first = (await post(url + batch, all)).body
    assert.equal(first.failed.length, 150)
    const kept = first.failed.filter(({ error }: { error: string }) => /removals\/confirm/.test(error))
    assert.equal(kept.length, 50)
    assert.equal(book.dropped.length, 100)
    const { services } = (await get(`${url}/admin/devices/removals`)).body
    assert.partialDeepStrictEqual(services, [{ service: 'my apns', stopped: true, stopped_for: { removals: 101 } }])
    const confirm = (body: unknown, key: string = adminKey.key) =>
      post(`${url}/admin/devices/removals/confirm`, body, key)
    assert.equal((await confirm({ service: 'my apns' }, keys.one.key)).status, 401)
    assert.equal((await confirm({})).status, 400)
    assert.equal((await confirm({ service: 'my apns', for_minutes: 0 })).status, 400)
    assert.equal((await confirm({ service: 'my fcm' })).status, 409)
    assert.equal((await confirm({ service: 'my apns' })).status, 200)
    const rest = all.filter((each) => kept.some((item: { id: unknown }) => item.id === each.activity.id))
    assert.equal((await post(url + batch, rest)).body.failed.length, 50)
    assert.equal(book.dropped.length, 150)
  },
)

onSqlite('one user with hundreds of dead tokens does not stop the removals', async (t, store) => {
  const deadDevices = Array.from({ length: 200 }, (_, i) => device({ brand: '2', userId: 'mallory', token: `m-${i}` }))
  const { url, book, apns } = await start(t, store, {
    devices: [...deadDevices, device({ userId: '1002', token: 'dead' })],
    apns: () => gone,
  })
  assert.equal((await post(url + single, element({ brand_id: 2, user_id: 'mallory' }))).status, 422)
  assert.equal(apns.received.length, 200)
  const { services } = (await get(`${url}/admin/devices/removals`)).body
  assert.partialDeepStrictEqual(services, [{ service: 'my apns', stopped: false }])
  assert.equal(book.dropped.length, 200)
  assert.equal((await post(url + single, element({ user_id: '1002' }))).status, 422)
  assert.equal(book.dropped.at(-1)?.device.token, 'dead', 'removals go on for all other users')
})

onSqlite(
  'a source that throws, returns malformed data or devices of another user makes messages fatal, and nothing is sent',
  async (t, store) => {
    const { url, book, apns } = await start(t, store)
    const { findDevices: of } = book
    const faults: DeviceBook['findDevices'][] = [
      () => Promise.reject(new Error('the registry is away')),
      async () => undefined as never,
      async () => new Map([['1002', [device({ userId: '1003' })]]]),
      async () => new Map([['1002', [device({ userId: '1002', brand: '2' })]]]),
    ]
    const one = element({ user_id: '1002' })
    for (const fault of faults) {
      book.findDevices = fault
      const answer = await post(url + single, one)
      assert.equal(answer.status, 503)
      assert.match(answer.body.error, /source of devices/)
    }
    assert.equal(apns.received.length, 0)
    book.findDevices = of
    assert.equal((await post(url + single, one)).status, 200)
  },
)

onSqlite('a batch is one look-up for each brand', async (t, store) => {
  const { url, book } = await start(t, store)
  await post(
    url + batch,
    Array.from({ length: 50 }, (_, i) => element({ brand_id: 1 + (i % 2) })),
  )
  assert.deepEqual(book.asked, [
    ['1', '1001'],
    ['2', '1001'],
  ])
})

onSqlite('messages with unreadable content or to blocked users are failed and not sent', async (t, store) => {
  const { url, apns } = await start(t, store, { attributes: functionSource(['blocked'], () => ['1002']) })
  const wrong = await post(url + single, element({ user_id: '1001' }, { title: 7 }))
  assert.equal(wrong.status, 400)
  assert.match(wrong.body.error, /title at \/title is a number/)
  assert.equal((await post(url + single, element({ user_id: '1002' }))).status, 422)
  assert.equal(apns.received.length, 0)
})

onSqlite('a message expires one lifetime after its first attempt; retries do not extend it', async (t, store) => {
  let answer: DeviceAnswer = away
  const { url, apns } = await start(t, store, { apns: () => answer, push: { lifetimeMs: 600 } })
  const one = element({ user_id: '1002' })
  const before = Date.now()
  assert.equal((await post(url + single, one)).status, 503)
  const after = Date.now()
  const expiry = apns.received[0]?.expiresAt ?? 0
  assert.ok(expiry >= before + 600 && expiry <= after + 600)
  await post(url + single, one)
  assert.equal(apns.received[1]?.expiresAt, expiry)
  answer = accepted
  await until(() => Date.now() > expiry, { awaited: 'its lifetime is over' })
  const late = await post(url + single, one)
  assert.equal(late.status, 422)
  assert.match(late.body.error, /lifetime/)
})

onEachEngine(
  'a lost answer counts as uncertain once, also for the device, and the next attempt has the same identifier',
  async (t, store) => {
    let n = 0
    const { url, apns } = await start(t, store, {
      apns: () => (n++ === 0 ? { ...away, reason: 'timeout', uncertain: true } : accepted),
    })
    const one = element({ user_id: '1002' })
    assert.equal((await post(url + single, one)).status, 503)
    const { push_id } = (await post(url + single, one)).body
    assert.deepEqual(
      apns.received.map(({ ref }) => ref),
      [push_id, push_id],
    )
    assert.equal((await get(`${url}/admin/summary`)).body.uncertain, 1)
    const { devices, uncertain } = (await get(`${url}/admin/messages/${push_id}`)).body
    assert.equal(uncertain, 1)
    assert.deepEqual(
      devices.map((each: { uncertain: number }) => each.uncertain),
      [1, 0],
    )
  },
)

test('row 59: a fatal message names its push service if that service, its app or some recipients are the cause', async (t) => {
  const refusesIos: DeviceAnswer = { ...wrongKey, blame: 'message' }
  const devices = [
    device({ userId: 'ios', token: 'f-1', kind: 'fcm_token' }),
    device({ userId: 'android', token: 'f-2', kind: 'fcm_token' }),
    device({ userId: 'apple', token: 'a-1' }),
  ]
  const fcm = ({ device: { userId } }: Push) => (userId === 'ios' ? refusesIos : accepted)
  let apple: DeviceAnswer = accepted
  const { url } = await start(t, 'sqlite::memory:', { devices, fcm, apns: () => apple })
  const send = async (user_id: string) => (await post(url + batch, [element({ user_id })])).body
  assert.equal((await send('android')).successful.length, 1)
  assert.equal((await send('apple')).successful.length, 1)
  assert.equal((await send('ios')).fatal[0].service, 'my fcm')
  assert.equal((await post(url + single, element({ user_id: 'ios' }))).body.service, 'my fcm')
  apple = { ...away, retryAfterMs: 60_000 }
  assert.equal((await send('apple')).fatal[0].service, 'my apns')
  const paused = (await send('apple')).fatal[0]
  assert.match(paused.error, /paused/)
  assert.equal(paused.service, 'my apns')
  assert.equal((await send('android')).successful.length, 1)
})

test('a batch is answered without the message whose push service hangs, and the retry gets its outcome', async (t) => {
  const gate = Promise.withResolvers<DeviceAnswer>()
  const devices = [
    device({ userId: 'quick', token: 'f-1', kind: 'fcm_token' }),
    device({ userId: 'hanging', token: 'a-1' }),
  ]
  const { url, apns } = await start(t, 'sqlite::memory:', { devices, apns: () => gate.promise })
  const elements = ['quick', 'hanging'].map((user_id) => element({ user_id }))
  const first = (await post(url + batch, elements)).body
  assert.equal(first.successful.length, 1)
  assert.match(first.fatal[0].error, /sending goes on/)
  assert.equal(first.fatal[0].service, 'devices', 'row 59: our platform counts no attempt')
  const retry = post(url + batch, elements.slice(1))
  gate.resolve(accepted)
  assert.equal((await retry).body.successful.length, 1)
  assert.equal(apns.received.length, 1)
})
