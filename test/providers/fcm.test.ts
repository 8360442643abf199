import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Check } from '../../src/base/runtime/check.ts'
import { clock } from '../../src/base/runtime/clock.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { readTokenAnswer } from '../../src/subjects/providers/fcm/access-token.ts'
import { judgeFcm } from '../../src/subjects/providers/fcm/answer.ts'
import { type FcmOptions, fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import { fcmMessage } from '../../src/subjects/providers/fcm/message.ts'
import { readServiceAccount } from '../../src/subjects/providers/fcm/service-account.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { type FcmStandIn, type FcmStandInOptions, fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import { pushServiceSuite, pushTo } from '../suites/push-service.ts'
import { connectProxy } from '../support/connect-proxy.ts'
import { contextOf } from '../support/context.ts'
import { until } from '../support/wait.ts'
import { fcmRows } from './fcm-rows.ts'

pushServiceSuite({
  name: 'fcm',
  http2: true,
  rows: fcmRows,
  async start() {
    const standIn = await fcmStandIn()
    return {
      service: serviceOf(standIn),
      standIn,
      device: (brand) => deviceOf(standIn, brand),
      secrets: [standIn.credentials.private_key],
    }
  },
})

function serviceOf(standIn: FcmStandIn, over: Partial<FcmOptions> = {}): PushService {
  const ca = standIn.ca === undefined ? {} : { ca: standIn.ca }
  return fcm({ serviceAccount: standIn.credentials, baseUrl: standIn.url, ...ca, ...over })
}

function deviceOf(standIn: FcmStandIn, brand = '1', over: Partial<Device> = {}): Device {
  const kind = over.kind === 'fcm_fid' ? 'fcm_fid' : 'fcm_token'
  return { brand, userId: '1001', kind, token: standIn.device({ kind }), linkedAt: '2026-11-21T00:00:00Z', ...over }
}

async function stage(t: TestContext, options: FcmStandInOptions = {}, over: Partial<FcmOptions> = {}) {
  const standIn = await fcmStandIn(options)
  const service = serviceOf(standIn, over)
  t.after(async () => {
    await service.close?.()
    await standIn.close()
  })
  return { standIn, service }
}

test('fcm: a Retry-After that is a date is relative to now', () => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  const answer = judgeFcm(503, { 'retry-after': 'Sat, 21 Nov 2026 12:00:20 GMT' }, '', now).answer
  assert.partialDeepStrictEqual(answer, { category: 'fatal', retryAfterMs: 20_000 })
})

test('fcm: an answer of 200 from another server is not a delivery', () => {
  assert.partialDeepStrictEqual(judgeFcm(200, {}, '<html>Welcome to our network</html>', 0).answer, {
    category: 'fatal',
    reason: 'nonsense',
    blame: 'provider',
  })
})

test('fcm: misconfigurations have a remedy', () => {
  for (const { row, status, body, outcome } of fcmRows) {
    if (outcome.reason !== 'misconfigured') continue
    const { error } = judgeFcm(status, {}, body, 0).answer as { error: string }
    assert.match(error, /; (check|enable|upload)/, row)
  }
})

test('fcm: a message is converted to a request body', () => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  const device: Device = { brand: '1', userId: '1001', kind: 'fcm_token', token: 't-1', linkedAt: '' }
  const content = {
    title: 'Hello',
    body: 'Bonus',
    image_url: 'https://example.com/i.png',
    url: 'https://example.com/b',
    data: '{"n":9007199254740993,"s":"x"}',
    overrides: { fcm: { android: { priority: 'HIGH', notification: { channel_id: 'news' } } }, apns: { aps: {} } },
  }
  const ref = '0192f0c1-7d2a-7cc3-98c4-dc0c0c07398f'
  const built = fcmMessage({ ref, device, content, expiresAt: now + 3_600_500 }, now)
  assert.ok('body' in built)
  assert.deepEqual(JSON.parse(built.body), {
    message: {
      token: 't-1',
      notification: { title: 'Hello', body: 'Bonus', image: 'https://example.com/i.png' },
      data: { n: '9007199254740993', s: 'x', url: 'https://example.com/b', push_id: ref },
      android: { ttl: '3600s', priority: 'HIGH', notification: { tag: ref, sound: 'default', channel_id: 'news' } },
      apns: {
        headers: {
          'apns-push-type': 'alert',
          'apns-expiration': String(now / 1000 + 3600),
          'apns-collapse-id': ref,
          'apns-priority': '10',
        },
        payload: { aps: { sound: 'default', 'mutable-content': 1 }, image: 'https://example.com/i.png' },
        fcm_options: { image: 'https://example.com/i.png' },
      },
      webpush: {
        headers: { TTL: '3600', Topic: '0192f0c17d2a7cc398c4dc0c0c07398f' },
        fcm_options: { link: 'https://example.com/b' },
      },
    },
  })
})

test('fcm: an installation id is sent as fid, and a URL without TLS is only in data', () => {
  const device: Device = { brand: '1', userId: '1001', kind: 'fcm_fid', token: 'f-1', linkedAt: '' }
  const built = fcmMessage(pushTo(device, { content: { title: 'Hello', url: 'app://bonus' } }), Date.now())
  assert.ok('body' in built)
  const { message } = JSON.parse(built.body)
  assert.equal(message.fid, 'f-1')
  assert.equal(message.token, undefined)
  assert.equal(message.data.url, 'app://bonus')
  assert.equal(message.webpush.fcm_options, undefined)
})

test('fcm: values that FCM would refuse, or that a message may not set, fail with the reason', () => {
  const device: Device = { brand: '1', userId: '1001', kind: 'fcm_token', token: 't-1', linkedAt: '' }
  for (const key of ['from', 'gcm.x', 'google.c', 'message_type']) {
    const built = fcmMessage(
      pushTo(device, { content: { title: 'a', data: JSON.stringify({ [key]: 'x' }) } }),
      Date.now(),
    )
    assert.partialDeepStrictEqual(built, { category: 'failed', reason: 'invalid' })
    assert.match((built as { error: string }).error, new RegExp(key.replace('.', '\\.')))
  }
  for (const target of ['token', 'fid', 'topic', 'condition']) {
    const content = { title: 'a', overrides: { fcm: { [target]: 'other' } } }
    assert.partialDeepStrictEqual(fcmMessage(pushTo(device, { content }), Date.now()), {
      category: 'failed',
      reason: 'invalid',
    })
  }
})

test('fcm: the size limit is exactly that of FCM', async (t) => {
  const { standIn, service } = await stage(t)
  const device = deviceOf(standIn)
  const ref = '0192f0c1-7d2a-7cc3-98c4-dc0c0c07398f'
  const frame = Buffer.byteLength(JSON.stringify({ notification: { body: '' }, data: { push_id: ref } }))
  const send = (bytes: number) =>
    service.send(
      pushTo(device, { ref, content: { body: 'é'.repeat((bytes - frame) / 2) + 'x'.repeat((bytes - frame) % 2) } }),
      contextOf(),
    )
  assert.equal((await send(4096)).category, 'successful')
  assert.partialDeepStrictEqual(await send(4097), { category: 'failed', reason: 'too_large' })
  assert.equal(standIn.arrivals.length, 1)
})

test('fcm: devices with installation ids are reached', async (t) => {
  const { standIn, service } = await stage(t)
  const device = deviceOf(standIn, '1', { kind: 'fcm_fid' })
  assert.equal(service.reaches(device), true)
  assert.equal((await service.send(pushTo(device), contextOf())).category, 'successful')
  assert.equal(standIn.shown(device.token).length, 1)
})

test('fcm: the service reaches only its kinds, and only its apps if they are configured', async (t) => {
  const { standIn, service } = await stage(t, {}, { apps: ['com.example.a'] })
  const device = deviceOf(standIn)
  assert.equal(service.reaches({ ...device, kind: 'apns' }), false)
  assert.equal(service.reaches({ ...device, app: 'com.example.a' }), true)
  assert.equal(service.reaches({ ...device, app: 'com.example.b' }), false)
  assert.equal(service.reaches(device), true)
})

test('fcm: a device that is gone, a device of another project, and a token that never existed', async (t) => {
  const { standIn, service } = await stage(t)
  standIn.project('other')
  const gone = deviceOf(standIn)
  standIn.forget(gone.token)
  assert.partialDeepStrictEqual(await service.send(pushTo(gone), contextOf()), { category: 'failed', token: 'gone' })
  const other = { ...gone, token: standIn.device({ project: 'other' }) }
  assert.partialDeepStrictEqual(await service.send(pushTo(other), contextOf()), {
    category: 'failed',
    token: 'mismatch',
  })
  const never = { ...gone, token: 'never' }
  assert.partialDeepStrictEqual(await service.send(pushTo(never), contextOf()), {
    category: 'failed',
    token: 'mismatch',
  })
})

test('fcm: an unknown project proves nothing about tokens', async (t) => {
  const { standIn } = await stage(t)
  const service = serviceOf(standIn, { serviceAccount: { ...standIn.credentials, project_id: 'nowhere' } })
  t.after(() => service.close?.())
  const answer = await service.send(pushTo(deviceOf(standIn)), contextOf())
  assert.partialDeepStrictEqual(answer, { category: 'fatal', reason: 'misconfigured', blame: 'provider' })
  assert.equal(answer.token, undefined)
})

test('fcm: all sends share one access token, which is fetched once', async (t) => {
  const { standIn, service } = await stage(t)
  const answers = await Promise.all(
    Array.from({ length: 250 }, () => service.send(pushTo(deviceOf(standIn)), contextOf())),
  )
  assert.ok(answers.every(({ category }) => category === 'successful'))
  assert.equal(standIn.tokenEndpoint.requests, 1)
})

test('fcm: a revoked access token is replaced once for all sends', async (t) => {
  const { standIn, service } = await stage(t)
  await service.send(pushTo(deviceOf(standIn)), contextOf())
  standIn.tokenEndpoint.revoke()
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => service.send(pushTo(deviceOf(standIn)), contextOf())),
  )
  assert.ok(answers.every(({ category }) => category === 'successful'))
  assert.equal(standIn.tokenEndpoint.requests, 2)
})

test('fcm: an access token is renewed before it expires, and the old one is used until then', async (t) => {
  const lifetimeSeconds = 3_600
  const { standIn, service } = await stage(t, { accessTokenSeconds: lifetimeSeconds })
  await service.send(pushTo(deviceOf(standIn)), contextOf())
  const { monotonic } = clock
  t.mock.method(clock, 'monotonic', () => monotonic() + (lifetimeSeconds - 180) * 1_000)
  standIn.tokenEndpoint.play({ delayMs: 100, times: 1 })
  assert.equal((await service.send(pushTo(deviceOf(standIn)), contextOf())).category, 'successful')
  const used = () => new Set(standIn.arrivals.map(({ headers }) => headers.authorization)).size
  assert.equal(used(), 1, 'no send waited')
  await until(() => standIn.tokenEndpoint.requests === 2, { awaited: 'the access token is renewed' })
})

test('fcm: a refused service account pauses sending, and no message is failed', async (t) => {
  const { standIn } = await stage(t)
  const wrong = { ...standIn.credentials, private_key: standIn.project('other').private_key }
  const service = serviceOf(standIn, { serviceAccount: wrong })
  t.after(() => service.close?.())
  const answers = await Promise.all([1, 2, 3].map(() => service.send(pushTo(deviceOf(standIn)), contextOf())))
  for (const answer of answers) {
    assert.partialDeepStrictEqual(answer, { category: 'fatal', reason: 'misconfigured', blame: 'provider' })
    assert.equal((answer as { uncertain?: true }).uncertain, undefined)
    assert.match((answer as { error: string }).error, /download a new one/)
  }
  await service.send(pushTo(deviceOf(standIn)), contextOf())
  assert.equal(standIn.tokenEndpoint.requests, 1, 'one request to Google, not one for each message')
  assert.equal(standIn.arrivals.length, 0)
})

test('fcm: an answer of 200 from another server than the token endpoint is named as such', () => {
  const read = readTokenAnswer(200, '<html>Welcome to the hotel</html>')
  assert.match('error' in read ? read.error : '', /answered 200 without an access token.*token_uri.*proxies/)
})

test('fcm: a refused access token names its remedy: the clock, the account, the key or the address', () => {
  for (const [description, remedy] of [
    ['Invalid JWT: Token must be a short-lived token and in a reasonable timeframe', /; set this machine's clock$/],
    ['Invalid grant: account not found', /; the service account was deleted: create a new one with a key$/],
    ['Invalid JWT Signature.', /; the key was deleted or belongs to another account: download a new one$/],
    ['Something else', /; check that the service account is enabled and its key is not revoked$/],
  ] as const) {
    const read = readTokenAnswer(400, JSON.stringify({ error: 'invalid_grant', error_description: description }))
    assert.partialDeepStrictEqual(read, { category: 'fatal', reason: 'misconfigured' })
    assert.match('error' in read ? read.error : '', remedy)
  }
  const page = readTokenAnswer(404, '<html>Not found</html>')
  assert.match('error' in page ? page.error : '', /; check token_uri in the service account's file$/)
})

test('fcm: if the token endpoint cannot be reached, messages are fatal, not uncertain', async (t) => {
  const { standIn, service } = await stage(t)
  standIn.tokenEndpoint.play({ answer: { status: 503, headers: { 'retry-after': '5' }, body: 'no' }, times: 1 })
  const answer = await service.send(pushTo(deviceOf(standIn)), contextOf())
  assert.partialDeepStrictEqual(answer, {
    category: 'fatal',
    reason: 'unavailable',
    blame: 'provider',
    retryAfterMs: 5_000,
  })
  standIn.tokenEndpoint.play({ delayMs: 60_000 })
  const late = await service.send(pushTo(deviceOf(standIn)), contextOf(50))
  assert.equal(late.category, 'fatal')
  assert.equal((late as { uncertain?: true }).uncertain, undefined)
})

test('fcm: the service works without TLS, for the demo', async (t) => {
  const { standIn, service } = await stage(t, { tls: false })
  assert.match(standIn.url, /^http:/)
  assert.equal((await service.send(pushTo(deviceOf(standIn)), contextOf())).category, 'successful')
})

test('fcm: with a proxy, messages and access tokens go through it', async (t) => {
  const proxy = await connectProxy(t)
  const { standIn, service } = await stage(t, {}, { proxy: proxy.url('user', 'secret') })
  assert.equal((await service.send(pushTo(deviceOf(standIn)), contextOf())).category, 'successful')
  const hosts = [standIn.credentials.token_uri, standIn.url].map((url) => new URL(url ?? '').host)
  assert.deepEqual(
    proxy.tunnels.map(({ to }) => to),
    hosts,
  )
})

test('fcm: check() reports each misconfiguration', async (t) => {
  const { standIn, service } = await stage(t)
  const wrong = (checks: readonly Check[]) => checks.filter(({ ok }) => !ok)
  const fine = (await service.check?.()) ?? []
  assert.deepEqual(wrong(fine), [])
  assert.ok(fine.length >= 3)

  const elsewhere = serviceOf(standIn, { serviceAccount: { ...standIn.credentials, project_id: 'nowhere' } })
  t.after(() => elsewhere.close?.())
  const [project] = wrong((await elsewhere.check?.()) ?? [])
  assert.match(project?.remedy ?? '', /project_id/)

  const badKey = serviceOf(standIn, {
    serviceAccount: { ...standIn.credentials, private_key: standIn.project('other').private_key },
  })
  t.after(() => badKey.close?.())
  const [key] = wrong((await badKey.check?.()) ?? [])
  assert.match(key?.description ?? '', /Invalid JWT Signature/)

  const date = new Date(Date.now() - 120_000).toUTCString()
  standIn.play({ answer: { status: 400, headers: { date }, body: fcmRows[1]?.body ?? '' }, times: 1 })
  const [clock] = wrong((await service.check?.()) ?? [])
  assert.match(clock?.description ?? '', /1(19|20|21) s ahead/)

  const distrustful = fcm({ serviceAccount: standIn.credentials, baseUrl: standIn.url })
  t.after(() => distrustful.close?.())
  const [trust] = wrong((await distrustful.check?.()) ?? [])
  assert.match(trust?.description ?? '', /set ca/)
})

test('fcm: a service account is read from its file, and an error contains no part of it', async (t) => {
  const { standIn } = await stage(t)
  const good = standIn.credentials
  assert.equal(readServiceAccount(JSON.stringify(good)).project_id, 'stand-in')
  for (const [text, expected] of [
    ['{', /not a JSON object/],
    ['null', /not a JSON object/],
    [JSON.stringify({ type: 'authorized_user' }), /another type/],
    [JSON.stringify({ ...good, client_email: undefined }), /client_email/],
    [JSON.stringify({ ...good, private_key: 'canary-key' }), /private_key cannot be read/],
    [JSON.stringify({ ...good, token_uri: 'nowhere' }), /token_uri/],
  ] as const) {
    assert.throws(
      () => readServiceAccount(text),
      ({ message }: Error) => expected.test(message) && !message.includes('canary'),
    )
  }
})
