import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { clock } from '../../../src/base/runtime/clock.ts'
import { on } from '../../../src/base/runtime/events.ts'
import { uuidv7 } from '../../../src/base/runtime/ids.ts'
import type { Device } from '../../../src/subjects/devices/device.ts'
import { guard } from '../../../src/subjects/providers/guard.ts'
import { type HttpProviderOptions, httpProvider, httpService } from '../../../src/subjects/providers/http/http.ts'
import type { Result } from '../../../src/subjects/providers/provider.ts'
import type { DeviceAnswer } from '../../../src/subjects/providers/push-service.ts'
import { message, providerSuite } from '../../suites/provider.ts'
import { contextOf } from '../../support/context.ts'
import { event } from '../../support/wait.ts'
import { httpRows, rowRules } from '../http-rows.ts'
import { answer, apiKey, appId, type PushProvider, startPushProvider } from './push-provider.ts'

const secrets = [
  { name: 'app_id', value: appId },
  { name: 'api_key', value: apiKey },
]

async function oneSignal(t: TestContext, over: Partial<HttpProviderOptions> = {}) {
  const there = await startPushProvider(t)
  const provider = httpProvider({ preset: 'onesignal', url: `${there.url}/notifications`, secrets, ...over })
  t.after(() => provider.close?.())
  const send = async (over: Parameters<typeof message>[1] = {}, id = 1): Promise<Result> => {
    const [result] = await provider.send([message(id, { text: textOf(id), ref: uuidv7(), ...over })], contextOf())
    return result as Result
  }
  return { there, provider, send }
}

function textOf(id: number, beside: object = { title: 'Hello', body: 'There' }, user = '1001', brand = 1): string {
  const activity = {
    brand_id: brand,
    user_id: user,
    activity_id: 7,
    action_group_id: 8,
    trigger_hash: 'h',
    action_id: 9,
  }
  return JSON.stringify({ activity: { id, ...activity }, ...beside })
}

providerSuite({
  name: 'http',
  accepting: async (t) =>
    (await oneSignal(t, { body: { to: '{{user_id}}', for: '{{brand}}' }, rules: ok, ...plain })).provider,
  silent: async (t) => {
    const { there, provider } = await oneSignal(t, plain)
    there.script = () => true
    return provider
  },
})
const ok = [{ when: {}, means: 'successful' as const }]
const plain = { preset: undefined, auth: { kind: 'none' as const } } as unknown as Partial<HttpProviderOptions>

test('OneSignal gets the message with the user’s id, and its answer is read', async (t) => {
  const { there, send } = await oneSignal(t)
  const ref = uuidv7()
  const text = textOf(1, {
    title: 'Grüße "Ann"',
    body: 'B',
    image_url: 'https://i.example/x.png',
    url: 'https://u.example/',
    data: { n: 1 },
  })
  const result = await send({ ref, text })
  assert.deepEqual(result, {
    category: 'successful',
    ref,
    rule: 'onesignal 200 (200 /id exists)',
    answer: '{"id":"os-1","external_id":null}',
  })
  const [request] = there.requests
  const { ttl, ...body } = JSON.parse(request?.text ?? '')
  assert.ok(ttl > 86_390 && ttl <= 86_400, String(ttl))
  assert.deepEqual(body, {
    app_id: appId,
    target_channel: 'push',
    include_aliases: { external_id: ['1001'] },
    idempotency_key: ref,
    collapse_id: ref,
    headings: { en: 'Grüße "Ann"' },
    contents: { en: 'B' },
    url: 'https://u.example/',
    big_picture: 'https://i.example/x.png',
    chrome_web_image: 'https://i.example/x.png',
    ios_attachments: { image: 'https://i.example/x.png' },
    data: { n: 1 },
  })
})

test('a message to a user who is unknown or has no subscription fails: OneSignal answers 200 without an id', async (t) => {
  const { there, send } = await oneSignal(t)
  const unknown = await send({ userId: 'nobody', text: textOf(1, undefined, 'nobody') })
  assert.partialDeepStrictEqual(unknown, { category: 'failed', reason: 'no_device' })
  assert.match((unknown as { error: string }).error, /has no user with this external id/)
  const unsubscribed = await send({ userId: '1002', text: textOf(1, undefined, '1002') })
  assert.partialDeepStrictEqual(unsubscribed, { category: 'failed', reason: 'no_device' })
  assert.match((unsubscribed as { error: string }).error, /All included players are not subscribed/)
  assert.deepEqual(there.sent, [])
})

test('a retry after a lost answer does not send the message twice', async (t) => {
  const { there, send } = await oneSignal(t)
  const ref = uuidv7()
  let first = true
  there.script = (request, response) => {
    if (!first) return false
    first = false
    there.sent.push(JSON.parse(request.text).idempotency_key)
    response.destroy()
    return true
  }
  const lost = await send({ ref })
  assert.partialDeepStrictEqual(lost, { category: 'fatal', reason: 'unavailable', blame: 'provider', uncertain: true })
  const again = await send({ ref, attempt: 2 })
  assert.equal(again.category, 'successful')
  assert.deepEqual(
    there.requests.map(({ text }) => JSON.parse(text).idempotency_key),
    [ref, ref],
  )
})

test('wrong credentials fail no message, and raise an alert', async (t) => {
  const { send } = await oneSignal(t, {
    secrets: [secrets[0], { name: 'api_key', value: 'os_wrong_key' }] as typeof secrets,
  })
  const alerted = event('provider.alert', ({ provider }) => provider === 'onesignal')
  const result = await send()
  assert.partialDeepStrictEqual(result, { category: 'fatal', reason: 'misconfigured', blame: 'provider' })
  assert.match((await alerted).error, /answered 403: Access denied\. Check the key\./)
})

test('an unknown app is a misconfiguration, and refused content fails the message', async (t) => {
  const { send } = await oneSignal(t, { secrets: [{ name: 'app_id', value: 'other' }, secrets[1]] as typeof secrets })
  assert.partialDeepStrictEqual(await send(), { category: 'fatal', reason: 'misconfigured' })
  const right = await oneSignal(t)
  const refused = await right.send({ text: textOf(1, { title: 'only a title' }) })
  assert.partialDeepStrictEqual(refused, { category: 'failed', reason: 'rejected' })
  assert.match((refused as { error: string }).error, /Notification content must not be null/)
})

test('two brands with the same user id are two people to the provider', async (t) => {
  const { there, send } = await oneSignal(t, { userId: '{{brand}}-{{user_id}}' })
  assert.equal((await send()).category, 'successful')
  assert.equal((await send({ brand: '2', text: textOf(1, undefined, '1001', 2) })).category, 'successful')
  assert.deepEqual(
    there.requests.map(({ text }) => JSON.parse(text).include_aliases.external_id),
    [['1-1001'], ['2-1001']],
  )
})

test('each row of the answers table has its outcome, verdict and Retry-After, and no redirect is followed', async (t) => {
  const { there, send } = await pager(t, { rules: rowRules })
  there.script = answerWith(200, { id: 'x' })
  assert.equal((await send()).category, 'successful')
  for (const { row, status, headers = {}, body, outcome, token } of httpRows) {
    there.script = (_request, response) => {
      answer(response, status, body, headers)
      return true
    }
    const result = await send()
    assert.partialDeepStrictEqual(result, outcome, row)
    assert.equal(result.token, token, row)
    assert.equal('uncertain' in result, false, row)
    assert.match(result.rule, new RegExp(`^pager ${status} `), row)
  }
  assert.ok(there.requests.every(({ path }) => path === '/push'))
})

test('a 404 fails a message only after an accepted send; before, the URL may be wrong', async (t) => {
  const { there, send } = await oneSignal(t)
  there.script = (_request, response) => {
    answer(response, 404, { errors: ['no such route'] })
    return true
  }
  assert.partialDeepStrictEqual(await send(), { category: 'fatal', reason: 'misconfigured', blame: 'message' })
  const script = there.script
  there.script = undefined
  assert.equal((await send()).category, 'successful')
  there.script = script
  assert.partialDeepStrictEqual(await send(), { category: 'failed', reason: 'rejected' })
})

test('an endless answer is cut off', async (t) => {
  const { there, send } = await oneSignal(t)
  there.script = (_request, response) => {
    response.writeHead(200)
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
    return true
  }
  assert.partialDeepStrictEqual(await send(), { category: 'fatal', reason: 'nonsense', uncertain: true })
})

test('without a connection a message is not uncertain', async (t) => {
  const { send } = await oneSignal(t, { url: 'http://127.0.0.1:1/x' })
  const result = await send()
  assert.partialDeepStrictEqual(result, { category: 'fatal', reason: 'unavailable', blame: 'provider' })
  assert.equal('uncertain' in result, false)
})

test('values of a message in URL, headers and body cannot change their structure', async (t) => {
  const { there, send } = await oneSignal(t, {
    ...plain,
    headers: [{ name: 'X-Title', value: '{{title}}' }],
    body: { note: 'to {{user_id}}', id: '{{activity.id}}', hash: '{{activity.trigger_hash}}' },
    rules: ok,
  })
  const evil = 'x","admin":true,"y":"\r\nX-Evil: 1/../../'
  await send({ userId: evil, text: textOf(1, { title: 'a\r\nX-Evil: 1' }, 'u1') })
  const [request] = there.requests
  assert.equal(request?.headers['x-evil'], undefined)
  assert.equal(request?.headers['x-title'], 'a%0D%0AX-Evil: 1')
  assert.deepEqual(JSON.parse(request?.text ?? ''), { note: `to ${evil}`, id: 1, hash: 'h' })
})

test('only a message whose user id would change the URL fails', async (t) => {
  const there = await startPushProvider(t)
  const provider = httpProvider({ url: `${there.url}/users/{{user_id}}/push`, body: { t: '{{title}}' }, rules: ok })
  t.after(() => provider.close?.())
  const users = ['..', 'a/b', '1001']
  const results = await provider.send(
    users.map((userId, i) => message(i, { userId })),
    contextOf(),
  )
  assert.deepEqual(
    results.map(({ category }) => category),
    ['failed', 'successful', 'successful'],
  )
  assert.deepEqual(there.requests.map(({ path }) => path).sort(), ['/users/1001/push', '/users/a%2Fb/push'])
})

test('an expired message is not sent', async (t) => {
  const { there, send } = await oneSignal(t, { lifetimeMs: 60_000 })
  assert.partialDeepStrictEqual(await send({ ref: uuidv7() }), { category: 'successful' })
  const old = '018f0000-0000-7000-8000-000000000000'
  assert.partialDeepStrictEqual(await send({ ref: old }), { category: 'failed', reason: 'expired' })
  assert.equal(there.requests.length, 1)
})

test('content that cannot be read fails the message', async (t) => {
  const { there, send } = await oneSignal(t)
  assert.partialDeepStrictEqual(await send({ text: textOf(1, { title: 5 }) }), {
    category: 'failed',
    reason: 'invalid',
  })
  assert.equal(there.requests.length, 0)
})

test('a message can override only the members that the operator allows', async (t) => {
  const { there, send } = await oneSignal(t, { overrides: ['priority'] })
  const overrides = { http: { priority: 10, included_segments: ['All'] } }
  await send({ text: textOf(1, { body: 'B', overrides }) })
  const body = JSON.parse(there.requests[0]?.text ?? '')
  assert.equal(body.priority, 10)
  assert.equal(body.included_segments, undefined)
})

test('a text that makes a header too long fails its message, and nothing is sent', async (t) => {
  const { there, send } = await oneSignal(t, { headers: [{ name: 'X-Title', value: '{{title}}' }] })
  assert.partialDeepStrictEqual(await send({ text: textOf(1, { title: 'a'.repeat(90_000) }) }), {
    category: 'failed',
    reason: 'too_large',
  })
  assert.equal(there.requests.length, 0)
})

const device = (over: Partial<Device> = {}): Device => ({
  brand: '1',
  userId: '1001',
  kind: 'http:pager',
  token: 'canary-token-0001',
  linkedAt: '2026-01-01T00:00:00Z',
  ...over,
})

async function pager(t: TestContext, over: object = {}) {
  const there = await startPushProvider(t)
  const service = httpService({
    name: 'pager',
    url: `${there.url}/push`,
    headers: [{ name: 'Idempotency-Key', value: '{{delivery_id}}' }],
    auth: { kind: 'bearer', token: 'pager-secret-token' },
    body: { to: '{{token}}', app: '{{app}}', text: '{{body}}' },
    rules: [
      { when: { status: 410 }, means: 'gone' },
      { when: { status: 400, body_path: '/code', equals: 'OTHER_APP' }, means: 'mismatch' },
    ],
    id: '/id',
    ...over,
  })
  t.after(() => service.close?.())
  const send = (over: Partial<Device> = {}, ref = 'p-1'): Promise<DeviceAnswer> =>
    service.send({ ref, device: device(over), content: { body: 'B' }, expiresAt: Date.now() + 60_000 }, contextOf())
  return { there, service, send }
}
const answerWith =
  (status: number, body: unknown): PushProvider['script'] =>
  (_request, response) => {
    answer(response, status, body)
    return true
  }

test('in device mode the token is sent, and the answer gives a verdict about it', async (t) => {
  const { there, service, send } = await pager(t)
  assert.deepEqual(
    ['http:pager', 'http:other', 'apns'].map((kind) => service.reaches(device({ kind: kind as Device['kind'] }))),
    [true, false, false],
  )
  there.script = answerWith(201, '{"id":9223372036854775807}')
  assert.partialDeepStrictEqual(await send({ app: 'com.example' }), {
    category: 'successful',
    ref: 'p-1',
    providerId: '9223372036854775807',
  })
  assert.equal(there.requests[0]?.headers.authorization, 'Bearer pager-secret-token')
  assert.deepEqual(JSON.parse(there.requests[0]?.text ?? ''), {
    to: 'canary-token-0001',
    app: 'com.example',
    text: 'B',
  })
  there.script = answerWith(410, {})
  assert.partialDeepStrictEqual(await send(), { category: 'failed', token: 'gone' })
  there.script = answerWith(400, { code: 'OTHER_APP' })
  assert.partialDeepStrictEqual(await send(), { category: 'failed', token: 'mismatch' })
  there.script = answerWith(400, { code: 'BAD' })
  assert.equal('token' in (await send()), false)
})

test('each device of a message has its own idempotency key, the same on each attempt', async (t) => {
  const { there, send } = await pager(t)
  there.script = answerWith(200, {})
  for (const token of ['a-token', 'b-token', 'a-token']) await send({ token })
  const keys = there.requests.map(({ headers }) => headers['idempotency-key'])
  assert.equal(keys[0], keys[2])
  assert.notEqual(keys[0], keys[1])
  assert.match(String(keys[0]), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('errors and evidence do not contain a token or key that the provider repeats', async (t) => {
  const { there, send } = await pager(t, { secrets: [{ name: 'k', value: 'canary"secret' }] })
  there.script = answerWith(400, { error: { message: 'bad canary-token-0001, key canary"secret pager-secret-token' } })
  const result = await send()
  assert.match(JSON.stringify(result), /bad \[redacted], key \[redacted] \[redacted]/)
  assert.doesNotMatch(JSON.stringify(result), /canary|pager-secret/)
})

test('an answer that repeats the request as JSON is read correctly', async (t) => {
  const { there, send } = await oneSignal(t)
  there.script = (request, response) => {
    answer(response, 400, { request: JSON.parse(request.text), error: { message: 'no' } })
    return true
  }
  const result = await send({ text: textOf(1, { title: '"quoted"', body: 'true', data: { secret: 'canary' } }) })
  assert.partialDeepStrictEqual(result, { category: 'failed', error: 'onesignal answered 400: no' })
  assert.doesNotMatch(JSON.stringify(result), /canary/)
})

test('a deadline in the far future is not treated as passed', async (t) => {
  const { provider } = await oneSignal(t)
  const context = { deadline: Number.MAX_SAFE_INTEGER, signal: new AbortController().signal }
  const [result] = await provider.send([message(1, { text: textOf(1), ref: uuidv7() })], context)
  assert.equal(result?.category, 'successful')
})

test('the provider accepts each kind of authentication', async (t) => {
  const there = await startPushProvider(t)
  there.script = answerWith(200, {})
  const kinds = [
    { kind: 'none' },
    { kind: 'header', name: 'X-Key', value: 'k {{secret.s}}' },
    { kind: 'basic', user: 'ann', password: 'pass:word' },
    { kind: 'standard-webhooks', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  ] as const
  for (const auth of kinds) {
    const provider = httpProvider({ url: `${there.url}/x`, auth, secrets: [{ name: 's', value: 'S' }], body: {} })
    await provider.send([message(1)], contextOf())
    await provider.close?.()
  }
  const [none, header, basic, signed] = there.requests.map(({ headers }) => headers)
  assert.equal(none?.authorization, undefined)
  assert.equal(header?.['x-key'], 'k S')
  assert.equal(basic?.authorization, `Basic ${Buffer.from('ann:pass:word').toString('base64')}`)
  assert.match(String(signed?.['webhook-signature']), /^v1,[A-Za-z0-9+/]{43}=$/)
  assert.equal(signed?.['webhook-id'], 'ref 1 1')
})

interface Issuer {
  issued: number
  readonly forms: string[]
  status: number
}

async function withOAuth2(t: TestContext) {
  const there = await startPushProvider(t)
  const issuer: Issuer = { issued: 0, forms: [], status: 200 }
  /** Tokens that the provider accepts. */
  const good = new Set<string>()
  there.script = ({ path, headers, text }, response) => {
    if (path === '/token') {
      issuer.forms.push(`${headers.authorization} ${text}`)
      const token = `canary-access-token-${++issuer.issued}`
      if (issuer.status === 200) good.add(token)
      answer(response, issuer.status, { access_token: token, expires_in: 3600, token_type: 'Bearer' })
    } else answer(response, good.has(String(headers.authorization).slice(7)) ? 200 : 401, {})
    return true
  }
  const provider = httpProvider({
    url: `${there.url}/send`,
    body: {},
    auth: { kind: 'oauth2', tokenUrl: `${there.url}/token`, clientId: 'c:1', clientSecret: 's&1', scope: 'push' },
  })
  t.after(() => provider.close?.())
  const send = (count: number) =>
    provider.send(
      Array.from({ length: count }, (_, i) => message(i)),
      contextOf(),
    )
  return { issuer, good, send, provider }
}

test('an access token is fetched once, and again after a refusal', async (t) => {
  const { issuer, good, send } = await withOAuth2(t)
  assert.ok((await send(20)).every(({ category }) => category === 'successful'))
  assert.equal(issuer.issued, 1)
  assert.equal(
    issuer.forms[0],
    `Basic ${Buffer.from('c%3A1:s%261').toString('base64')} grant_type=client_credentials&scope=push`,
  )
  good.clear() // as after a key was rotated at the provider
  assert.ok((await send(1)).every(({ category }) => category === 'successful'))
  assert.equal(issuer.issued, 2)
})

test('a token that is always refused is a misconfiguration, and takes two requests', async (t) => {
  const { issuer, good, send } = await withOAuth2(t)
  good.add = () => good
  const [result] = await send(1)
  assert.partialDeepStrictEqual(result, { category: 'fatal', reason: 'misconfigured', blame: 'provider' })
  assert.equal(issuer.issued, 2)
})

test('credentials that the token endpoint refuses are a misconfiguration; an unavailable endpoint is not', async (t) => {
  const { issuer, send, provider } = await withOAuth2(t)
  issuer.status = 401
  assert.partialDeepStrictEqual((await send(1))[0], { category: 'fatal', reason: 'misconfigured', blame: 'provider' })
  const checks = await provider.check?.()
  assert.deepEqual(
    checks?.map(({ ok }) => ok),
    [true, true, false],
  )
  issuer.status = 503
  const { monotonic } = clock
  // After a refusal, the token endpoint is left alone for a second.
  t.mock.method(clock, 'monotonic', () => monotonic() + 1_000)
  const [down] = await send(1)
  assert.partialDeepStrictEqual(down, { category: 'fatal', reason: 'unavailable', blame: 'provider' })
  assert.equal('uncertain' in (down as Result), false)
})

test('check() reports whether the provider answers and whether the clocks agree', async (t) => {
  const { there, provider } = await oneSignal(t)
  assert.deepEqual(
    (await provider.check?.())?.map(({ ok, description }) => `${ok} ${description}`),
    [`true onesignal: ${there.url} answers (404)`, `true this machine's clock agrees with ${there.url}'s`],
  )
  there.script = (_request, response) => {
    answer(response, 200, {}, { date: new Date(Date.now() - 600_000).toUTCString() })
    return true
  }
  const [, clock] = (await provider.check?.()) ?? []
  assert.match(clock?.description ?? '', /clock is 60\d s ahead of http/)
  const away = httpProvider({ url: 'http://127.0.0.1:1/x', body: {} })
  t.after(() => away.close?.())
  const [gone] = (await away.check?.()) ?? []
  assert.equal(gone?.ok, false)
  assert.match(gone?.description ?? '', /does not answer: .*ECONNREFUSED/)
})

for (const [form, body] of [
  ['Expo', { data: { status: 'error', message: 'the message of the provider', details: { error: 'MessageTooBig' } } }],
  ['a list of texts', { errors: ['the message of the provider'] }],
  ['a list of objects', { errors: [{ code: 7, detail: 'the message of the provider' }] }],
  ['OAuth', { error: 'the message of the provider' }],
  ['Google', { error: { code: 400, message: 'the message of the provider', status: 'X' } }],
] as const)
  test(`the error of a refused message contains the message of the provider: ${form}`, async (t) => {
    const { there, send } = await oneSignal(t, {
      rules: [{ when: { body_path: '/id', absent: true }, means: 'failed' }],
    })
    there.script = (_request, response) => {
      answer(response, 200, body)
      return true
    }
    const result = await send()
    assert.match(result.category === 'failed' ? result.error : '', /answered 200: the message of the provider/)
  })

test('a refusal of one user pauses nothing once the provider accepted a message, and is alerted once', async (t) => {
  const { there, provider, send } = await oneSignal(t)
  const alerts: unknown[] = []
  t.after(on('provider.alert', (event) => alerts.push(event)))
  const guarded = guard(provider, { concurrency: 4, timeoutMs: 1_000 })
  assert.equal((await send()).category, 'successful')
  there.script = (request, response) => {
    if (!request.text.includes('refused-user')) return false
    answer(response, 403, { errors: ['this user is blocked'] })
    return true
  }
  const refused = () =>
    message(1, { text: textOf(1, undefined, 'refused-user'), userId: 'refused-user', ref: uuidv7() })
  for (let n = 0; n < 20; n++)
    assert.partialDeepStrictEqual(await guarded.send([refused()], contextOf()), [
      { category: 'fatal', reason: 'misconfigured', blame: 'message' },
    ])
  const [good] = await guarded.send([message(2, { text: textOf(2), ref: uuidv7() })], contextOf())
  assert.equal(good?.category, 'successful')
  assert.equal(alerts.length, 1)
})
