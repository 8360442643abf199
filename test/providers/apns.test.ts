import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, sensitiveHeaders } from 'node:http2'
import test, { type TestContext } from 'node:test'
import type { Check } from '../../src/base/runtime/check.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { judgeApns } from '../../src/subjects/providers/apns/answer.ts'
import { type ApnsOptions, apns } from '../../src/subjects/providers/apns/apns.ts'
import { apnsNotification } from '../../src/subjects/providers/apns/notification.ts'
import { apnsSigningKey, createProviderTokens, issuedAt } from '../../src/subjects/providers/apns/provider-token.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { type ApnsStandIn, type ApnsStandInOptions, apnsStandIn } from '../../src/tools/stand-ins/apns.ts'
import { pushServiceSuite, pushTo } from '../suites/push-service.ts'
import { contextOf } from '../support/context.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { apnsRows } from './apns-rows.ts'

pushServiceSuite({
  name: 'apns',
  http2: true,
  rows: apnsRows,
  async start() {
    const standIn = await apnsStandIn()
    return {
      service: serviceOf(standIn),
      standIn,
      device: (brand) => deviceOf(standIn, {}, brand),
      secrets: [standIn.credentials.key],
    }
  },
})

function serviceOf(standIn: ApnsStandIn, over: Partial<ApnsOptions> = {}): PushService {
  const { credentials, topic, url: baseUrl, sandboxUrl, ca } = standIn
  return apns({ ...credentials, topic, baseUrl, sandboxUrl, ...(ca !== undefined && { ca }), ...over })
}

function deviceOf(standIn: ApnsStandIn, over: Partial<Device> = {}, brand = '1'): Device {
  const { app, environment } = over
  const token = standIn.device({ ...(app !== undefined && { app }), ...(environment && { environment }) })
  return {
    brand,
    userId: '1001',
    kind: 'apns',
    environment: 'production',
    token,
    linkedAt: '2026-11-21T00:00:00Z',
    ...over,
  }
}

/** A device of unknown environment. */
function unknownOf(standIn: ApnsStandIn, environment: 'production' | 'sandbox'): Device {
  return { brand: '1', userId: '1001', kind: 'apns', token: standIn.device({ environment }), linkedAt: '' }
}

async function stage(t: TestContext, options: ApnsStandInOptions = {}, over: Partial<ApnsOptions> = {}) {
  const standIn = await apnsStandIn(options)
  const service = serviceOf(standIn, over)
  t.after(async () => {
    await service.close?.()
    await standIn.close()
  })
  return { standIn, service }
}

test('apns: misconfigurations have a remedy, and unknown reasons are read by their status', () => {
  for (const { status, body, outcome, row } of apnsRows) {
    if (outcome.reason !== 'misconfigured') continue
    assert.match((judgeApns(status, {}, body, 0).answer as { error: string }).error, /; (check|set|the key)/, row)
  }
  const of = (status: number, body: string) => judgeApns(status, {}, body, 0).answer
  assert.equal(
    of(400, '{"reason":"constructor"}').rule,
    'apns 400 constructor',
    'the reason is a member of every object',
  )
  assert.partialDeepStrictEqual(of(400, '{"reason":"BadNews"}'), { category: 'failed', reason: 'rejected' })
  assert.partialDeepStrictEqual(of(403, '{"reason":"BadNews"}'), { category: 'fatal', reason: 'misconfigured' })
  assert.partialDeepStrictEqual(of(429, '{"reason":"BadNews"}'), { category: 'fatal', reason: 'rate_limited' })
  assert.partialDeepStrictEqual(of(503, '<html>'), { category: 'fatal', reason: 'unavailable' })
  for (const [status, body] of [
    [200, '<html>'],
    [404, '<html>'],
    [410, ''],
  ] as const) {
    const answer = of(status, body)
    assert.equal(answer.category, 'fatal')
    assert.equal(answer.token, undefined, 'an answer of a proxy is no evidence against a token')
  }
})

test('apns: a message is converted to a notification', () => {
  const device: Device = { brand: '1', userId: '1001', kind: 'apns', token: 't', app: 'com.example.b', linkedAt: '' }
  const ref = '0192F0C1-7d2a-7cc3-98c4-dc0c0c07398f'
  const content = {
    title: 'Hello',
    body: 'Bonus',
    image_url: 'https://example.com/i.png',
    url: 'https://example.com/b',
    data: '{"n":9007199254740993}',
    overrides: { apns: { aps: { sound: 'default', alert: { subtitle: 'x' } }, headers: { 'apns-priority': '5' } } },
  }
  const expiresAt = Date.parse('2026-11-21T12:00:00.700Z')
  const built = apnsNotification({ ref, device, content, expiresAt }, 'com.example.a')
  assert.ok('headers' in built)
  const headers = [
    ['content-type', 'application/json'],
    ['apns-topic', 'com.example.b'],
    ['apns-push-type', 'alert'],
    ['apns-expiration', '1795262400'],
    ['apns-collapse-id', ref],
    ['apns-priority', '5'],
    ['apns-id', ref.toLowerCase()],
  ]
  assert.deepEqual(built.headers, headers.flat())
  assert.deepEqual(JSON.parse(built.body), {
    aps: { alert: { title: 'Hello', body: 'Bonus', subtitle: 'x' }, 'mutable-content': 1, sound: 'default' },
    n: '9007199254740993',
    url: 'https://example.com/b',
    image: 'https://example.com/i.png',
    push_id: ref,
  })
})

test('apns: a message without text is a background notification', async (t) => {
  const { standIn, service } = await stage(t)
  const push = pushTo(deviceOf(standIn), { content: { data: '{"sync":"1"}' } })
  assert.equal((await service.send(push, contextOf())).category, 'successful')
  const { headers, body } = standIn.arrivals[0] as { headers: Record<string, string>; body: string }
  assert.equal(headers['apns-push-type'], 'background')
  assert.equal(headers['apns-priority'], '5')
  assert.deepEqual(JSON.parse(body), { aps: { 'content-available': 1 }, sync: '1', push_id: push.ref })
})

test('apns: values that APNs would refuse, or that a message may not set, fail with the reason', () => {
  const device: Device = { brand: '1', userId: '1001', kind: 'apns', token: 't', linkedAt: '' }
  for (const content of [
    { title: 'a', data: '{"aps":"x"}' },
    { title: 'a', overrides: { apns: { headers: { 'apns-topic': 'com.example.other' } } } },
    { title: 'a', overrides: { apns: { headers: { authorization: 'bearer x' } } } },
    { title: 'a', overrides: { apns: { headers: 5 } } },
  ]) {
    const built = apnsNotification(pushTo(device, { content }), 'com.example.a')
    assert.partialDeepStrictEqual(built, { category: 'failed', reason: 'invalid' })
  }
})

test('apns: the size limit is exactly that of APNs', async (t) => {
  const { standIn, service } = await stage(t)
  const ref = randomUUID()
  const device = deviceOf(standIn)
  const frame = Buffer.byteLength(JSON.stringify({ aps: { alert: { body: '' }, sound: 'default' }, push_id: ref }))
  const send = (bytes: number) =>
    service.send(pushTo(device, { ref, content: { body: 'x'.repeat(bytes - frame) } }), contextOf())
  assert.equal((await send(4096)).category, 'successful')
  assert.partialDeepStrictEqual(await send(4097), { category: 'failed', reason: 'too_large' })
})

test('apns: a reference that is no UUID has no apns-id but collapses', async (t) => {
  const { standIn, service } = await stage(t)
  const push = pushTo(deviceOf(standIn), { ref: `ref ${'x'.repeat(80)}` })
  assert.equal((await service.send(push, contextOf())).category, 'successful')
  assert.equal((await service.send(push, contextOf())).category, 'successful')
  assert.deepEqual(
    standIn.shown(push.device.token).map(({ replaced }) => replaced),
    [1],
  )
})

test('apns: the service reaches only its kind, its apps and its environments', async (t) => {
  const { standIn, service } = await stage(t, {}, { apps: ['com.example.b'], environments: ['production'] })
  const device = deviceOf(standIn)
  assert.equal(service.reaches(device), true)
  assert.equal(service.reaches({ ...device, kind: 'fcm_token' }), false)
  assert.equal(service.reaches({ ...device, app: standIn.topic }), true)
  assert.equal(service.reaches({ ...device, app: 'com.example.b' }), true)
  assert.equal(service.reaches({ ...device, app: 'com.other' }), false, 'a device cannot choose a topic')
  assert.equal(service.reaches({ ...device, environment: 'sandbox' }), false)
})

test('apns: a device of unknown environment is tried in both environments, and the right one is remembered', async (t) => {
  const { standIn, service } = await stage(t)
  const sandbox = deviceOf(standIn, { environment: 'sandbox' })
  assert.equal((await service.send(pushTo(sandbox), contextOf())).category, 'successful')
  assert.partialDeepStrictEqual(await service.send(pushTo({ ...sandbox, environment: 'production' }), contextOf()), {
    category: 'failed',
    token: 'mismatch',
  })
  const requests = async (device: Device): Promise<number> => {
    const before = standIn.arrivals.length
    assert.equal((await service.send(pushTo(device), contextOf())).category, 'successful')
    return standIn.arrivals.length - before
  }
  const store = unknownOf(standIn, 'production')
  const xcode = unknownOf(standIn, 'sandbox')
  const asked = [await requests(store), await requests(xcode), await requests(xcode), await requests(store)]
  assert.deepEqual(asked, [1, 2, 1, 1])
  const before = standIn.arrivals.length
  const nowhere = { ...unknownOf(standIn, 'sandbox'), token: 'ab'.repeat(32) }
  assert.partialDeepStrictEqual(await service.send(pushTo(nowhere), contextOf()), {
    category: 'failed',
    token: 'mismatch',
  })
  assert.equal(standIn.arrivals.length - before, 2)
})

test('apns: a malformed token is never sent, and proves nothing about the credential', async (t) => {
  const { standIn, service } = await stage(t)
  for (const token of ['../../x?y#z \r\nv: w é', '\ud800', '', 'a'.repeat(401)]) {
    const answer = await service.send(pushTo({ ...deviceOf(standIn), token }), contextOf())
    assert.partialDeepStrictEqual(answer, { category: 'failed', reason: 'rejected' })
    assert.equal(answer.token, undefined)
  }
  assert.deepEqual(standIn.arrivals, [])
})

test('apns: a message can set priority, push type, expiration and collapse id to values that APNs accepts', () => {
  const device: Device = { brand: '1', userId: '1001', kind: 'apns', token: 't', linkedAt: '' }
  const build = (headers: unknown) =>
    apnsNotification(pushTo(device, { content: { title: 'a', overrides: { apns: { headers } } } }), 'com.example.a')
  const good = {
    'APNS-Priority': '1',
    'apns-push-type': 'alert',
    'apns-expiration': '0',
    'apns-collapse-id': 'x'.repeat(64),
  }
  const built = build(good)
  assert.ok('headers' in built)
  for (const [name, value] of Object.entries(good)) {
    const at = built.headers.indexOf(name.toLowerCase())
    assert.equal(built.headers[at + 1], value, name)
  }
  for (const headers of [
    { 'apns-priority': '7' },
    { 'apns-priority': 10 },
    { 'apns-push-type': 'Alert' },
    { 'apns-expiration': 'tomorrow' },
    { 'apns-expiration': '-1' },
    { 'apns-collapse-id': 'x'.repeat(65) },
    { 'apns-collapse-id': '' },
    { constructor: 'x' },
  ]) {
    const refused = build(headers)
    assert.partialDeepStrictEqual(refused, { category: 'failed', reason: 'invalid' }, JSON.stringify(headers))
  }
})

test('apns: a removed app is gone since Apple’s timestamp', async (t) => {
  const { standIn, service } = await stage(t, { clock: () => 1_763_721_600_000 + 86_400_000 * 365 })
  const now = 1_763_721_600_000 + 86_400_000 * 365
  t.mock.timers.enable({ apis: ['Date'], now })
  const device = deviceOf(standIn)
  standIn.forget(device.token)
  const answer = await service.send(pushTo(device), contextOf())
  t.mock.timers.reset()
  assert.partialDeepStrictEqual(answer, { category: 'failed', token: 'gone', goneSince: now })
})

test('apns: the issue time of a provider token is the same in every process, and 15 to 45 minutes ago', () => {
  const at = (time: string) => Date.parse(`2026-11-21T${time}Z`)
  assert.equal(issuedAt(at('12:14:59')), at('11:30:00'))
  assert.equal(issuedAt(at('12:15:00')), at('12:00:00'))
  assert.equal(issuedAt(at('12:44:59')), at('12:00:00'))
  assert.equal(issuedAt(at('12:45:00')), at('12:30:00'))
})

test('apns: headers with a different value in each notification are not indexed by HPACK', async (t) => {
  const { standIn } = await stage(t)
  const unindexed: unknown[] = []
  const server = createServer().on('stream', (stream, headers) => {
    unindexed.push(Reflect.get(headers, sensitiveHeaders))
    stream.respond({ ':status': 200, 'apns-id': headers['apns-id'] })
    stream.end()
  })
  const { url } = await listenLocally(t, server)
  const service = apns({
    ...standIn.credentials,
    topic: 'com.example.app',
    baseUrl: url,
  })
  t.after(() => service.close?.())
  for (let n = 0; n < 2; n++) await service.send(pushTo(deviceOf(standIn)), contextOf())
  // A credential is never indexed (RFC 7541 §7.1.3).
  assert.deepEqual(unindexed, [['authorization'], ['authorization', 'apns-expiration', 'apns-collapse-id', 'apns-id']])
})

test('apns: all sends share one token, which is signed again only at the half hour', async (t) => {
  const { standIn } = await stage(t)
  const tokens = createProviderTokens(standIn.credentials)
  const noon = Date.parse('2026-11-21T12:00:00Z')
  const [one, two] = await Promise.all([tokens.get(noon), tokens.get(noon)])
  assert.equal(one, two)
  assert.equal(tokens.get(noon + 14 * 60_000), one)
  const next = await tokens.get(noon + 15 * 60_000)
  assert.notEqual(next, one)
  assert.equal(tokens.get(noon + 44 * 60_000), next)
})

test('apns: after TooManyProviderTokenUpdates the previous token is used while it is valid', async (t) => {
  const { standIn } = await stage(t)
  const tokens = createProviderTokens(standIn.credentials)
  const noon = Date.parse('2026-11-21T12:00:00Z')
  const one = await tokens.get(noon)
  const two = await tokens.get(noon + 15 * 60_000)
  tokens.onTooMany(two, noon + 15 * 60_000)
  assert.equal(tokens.get(noon + 15 * 60_000), one)
  assert.notEqual(await tokens.get(noon + 36 * 60_000), one, 'not beyond its hour')
})

test('apns: a token that Apple refuses as expired is replaced at once, but only once', async (t) => {
  const { standIn, service } = await stage(t)
  const expiredOnce = { status: 403, body: '{"reason":"ExpiredProviderToken"}' }
  standIn.play({ answer: expiredOnce, times: 1 })
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => service.send(pushTo(deviceOf(standIn)), contextOf())),
  )
  assert.ok(answers.every(({ category }) => category === 'successful'))
  const used = new Set(standIn.arrivals.map(({ headers }) => headers.authorization))
  assert.equal(used.size, 2)
})

test('apns: with a clock that is far behind, one new token is enough', async (t) => {
  // Apple’s clock is 50 minutes ahead: the token of the last half hour is too old, but a new token is not.
  const { standIn, service } = await stage(t, { clock: () => Date.now() + 50 * 60_000 })
  const push = pushTo(deviceOf(standIn), { expiresAt: Date.now() + 7_200_000 })
  assert.equal((await service.send(push, contextOf())).category, 'successful')
})

test('apns: a wrong key, team, topic or environment is a misconfiguration, and never the fault of the token', async (t) => {
  const { standIn } = await stage(t)
  const { credentials } = standIn
  const foreign = await apnsStandIn()
  t.after(() => foreign.close())
  for (const [over, expected] of [
    [{ keyId: 'OTHER' }, 'apns 403 InvalidProviderToken'],
    [{ teamId: 'OTHERTEAM1' }, 'apns 403 InvalidProviderToken'],
    [{ key: foreign.credentials.key }, 'apns 403 InvalidProviderToken'],
    [{ topic: 'com.other' }, 'apns 400 TopicDisallowed'],
    [standIn.key({ environment: 'sandbox' }), 'apns 403 BadEnvironmentKeyInToken'],
    [standIn.key({ topics: ['com.example.other'] }), 'apns 400 TopicDisallowed'],
  ] as const) {
    const service = serviceOf(standIn, { ...credentials, ...over })
    t.after(() => service.close?.())
    const answer = await service.send(pushTo(deviceOf(standIn)), contextOf())
    assert.partialDeepStrictEqual(answer, {
      category: 'fatal',
      reason: 'misconfigured',
      blame: 'provider',
      rule: expected,
    })
    assert.equal(answer.token, undefined)
  }
  const service = serviceOf(standIn, { apps: ['com.example.b'] })
  t.after(() => service.close?.())
  standIn.device({ app: 'com.example.b' })
  const answer = await service.send(pushTo({ ...deviceOf(standIn), app: 'com.example.b' }), contextOf())
  assert.partialDeepStrictEqual(answer, {
    category: 'fatal',
    reason: 'misconfigured',
    rule: 'apns 400 DeviceTokenNotForTopic',
  })
})

test('apns: a device that was offline gets the newest notification', async (t) => {
  const { standIn, service } = await stage(t)
  const device = deviceOf(standIn)
  standIn.setOnline(device.token, false)
  for (const title of ['one', 'two']) await service.send(pushTo(device, { content: { title } }), contextOf())
  standIn.setOnline(device.token, true)
  assert.deepEqual(
    standIn.shown(device.token).map(({ title }) => title),
    ['two'],
  )
})

test('apns: check() reports each misconfiguration', async (t) => {
  const { standIn, service } = await stage(t)
  const wrong = (checks: readonly Check[] | undefined) => (checks ?? []).filter(({ ok }) => !ok)
  assert.deepEqual(wrong(await service.check?.()), [])

  const check = async (over: Partial<ApnsOptions>) => {
    const service = serviceOf(standIn, { environments: ['production'], ...over })
    t.after(() => service.close?.())
    return wrong(await service.check?.())
  }
  assert.match((await check({ topic: 'com.other' }))[0]?.remedy ?? '', /topic/)
  assert.match((await check({ keyId: 'OTHER' }))[0]?.remedy ?? '', /key_id/)
  assert.match((await check(standIn.key({ environment: 'sandbox' })))[0]?.remedy ?? '', /environments/)
  assert.match((await check({ baseUrl: 'https://127.0.0.1:1' }))[0]?.remedy ?? '', /firewalls/)

  const date = new Date(Date.now() + 90_000).toUTCString()
  standIn.play({ answer: { status: 400, headers: { date }, body: '{"reason":"BadDeviceToken"}' }, times: 1 })
  assert.match((await check({}))[0]?.description ?? '', /(89|90|91) s behind/)
})

test('apns: an invalid key is refused, and the error does not contain it', () => {
  assert.throws(
    () => apnsSigningKey('canary'),
    ({ message }: Error) => /not a private key/.test(message) && !message.includes('canary'),
  )
})
