// Tests the APNs stand-in against the documentation of APNs, with a plain client.

import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { SignJWT } from 'jose'
import { type ApnsStandInOptions, apnsStandIn } from '../../src/tools/stand-ins/apns.ts'
import type { ApnsCredentials } from '../../src/tools/stand-ins/apns-keys.ts'
import { connectClient } from './http2-client.ts'

async function signToken({ key, keyId, teamId }: ApnsCredentials, at = Date.now()): Promise<string> {
  const token = await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setIssuedAt(Math.floor(at / 1000))
    .sign(createPrivateKey(key))
  return `bearer ${token}`
}

async function stage(t: TestContext, options: ApnsStandInOptions = {}) {
  const standIn = await apnsStandIn({ topics: ['com.example.app', 'com.example.b'], ...options })
  t.after(() => standIn.close())
  const production = connectClient(t, standIn.url, standIn.ca)
  const sandbox = connectClient(t, standIn.sandboxUrl, standIn.ca)
  const authorization = await signToken(standIn.credentials, (options.clock ?? Date.now)())
  const send = (
    token: string,
    headers: Record<string, string | undefined> = {},
    body: string | object = alert,
    to = production,
  ) => {
    const all = { authorization, 'apns-topic': standIn.topic, ...headers }
    const headersToSend = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    return to(`/3/device/${token}`, headersToSend as Record<string, string>, body)
  }
  return { standIn, production, sandbox, authorization, send }
}

const alert = { aps: { alert: { title: 'Hello' } } }
const id = '123e4567-e89b-12d3-a456-4266554400a0'

test('a notification is answered with its id', async (t) => {
  const { standIn, sandbox, send } = await stage(t)
  const answered = await send(standIn.device(), { 'apns-id': id.toUpperCase() })
  assert.equal(answered.status, 200)
  assert.equal(answered.headers['apns-id'], id)
  assert.equal(answered.headers['apns-unique-id'], undefined)
  assert.match((await send(standIn.device())).headers['apns-id'] ?? '', /^[0-9a-f-]{36}$/)
  const developed = await send(standIn.device({ environment: 'sandbox' }), {}, alert, sandbox)
  assert.match(developed.headers['apns-unique-id'] ?? '', /./)
})

test('like Apple, the stand-in ignores the case of tokens, and knows the topic of each push type', async (t) => {
  const { standIn, send } = await stage(t)
  const token = standIn.device()
  assert.equal((await send(token.toUpperCase())).status, 200)
  assert.equal(standIn.shown(token).length, 1)
  for (const [type, suffix] of [
    ['voip', '.voip'],
    ['liveactivity', '.push-type.liveactivity'],
    ['pushtotalk', '.voip-ptt'],
  ] as const)
    assert.equal(
      (await send(token, { 'apns-push-type': type, 'apns-topic': standIn.topic + suffix })).status,
      200,
      type,
    )
})

test('a notification that APNs would refuse is refused with its reason', async (t) => {
  const { standIn, production, authorization, send } = await stage(t)
  const token = standIn.device()
  const gone = standIn.device()
  standIn.forget(gone)
  const b = standIn.device({ app: 'com.example.b' })
  for (const [promise, status, reason] of [
    [send(token, { 'apns-id': 'x' }), 400, 'BadMessageId'],
    [send(token, { 'apns-expiration': '24h' }), 400, 'BadExpirationDate'],
    [send(token, { 'apns-priority': '7' }), 400, 'BadPriority'],
    [send(token, { 'apns-push-type': 'background' }), 400, 'BadPriority'],
    [send(token, { 'apns-push-type': 'loud' }), 400, 'InvalidPushType'],
    [send(token, { 'apns-collapse-id': 'x'.repeat(65) }), 400, 'BadCollapseId'],
    [send(token, { 'apns-topic': undefined }), 400, 'MissingTopic'],
    [send(token, { 'apns-topic': 'no topic' }), 400, 'BadTopic'],
    [send(token, { 'apns-topic': 'com.stranger' }), 400, 'TopicDisallowed'],
    [send(token, { 'apns-push-type': 'voip' }), 400, 'TopicDisallowed'],
    [send(token, { 'apns-push-type': 'mdm' }), 400, 'InvalidPushType'],
    [send(token, { 'apns-topic': `${standIn.topic}.voip` }), 400, 'TopicDisallowed'],
    [send(b), 400, 'DeviceTokenNotForTopic'],
    [send(token, {}, ''), 400, 'PayloadEmpty'],
    [send(token, {}, { aps: { alert: 'x'.repeat(4_096) } }), 413, 'PayloadTooLarge'],
    [send(''), 400, 'MissingDeviceToken'],
    [send('ab'), 400, 'BadDeviceToken'],
    [send(standIn.device({ environment: 'sandbox' })), 400, 'BadDeviceToken'],
    [send(gone), 410, 'Unregistered'],
    [production('/3/else', { authorization }, alert), 404, 'BadPath'],
    [production(`/3/device/${token}`, { authorization }, '', 'GET'), 405, 'MethodNotAllowed'],
  ] as const) {
    const { status: answered, json } = await promise
    assert.deepEqual([answered, json.reason], [status, reason])
  }
  assert.equal(typeof (await send(gone)).json.timestamp, 'number')
  assert.deepEqual(standIn.shown(token), [])
})

test('a provider token must be new, signed by a key of the team, and valid for the environment and topic', async (t) => {
  let now = Date.now()
  const { standIn, authorization, send } = await stage(t, { clock: () => now })
  const { credentials } = standIn
  const token = standIn.device()
  const reason = async (authorization: string | undefined) => (await send(token, { authorization })).json.reason
  assert.equal(await reason(undefined), 'MissingProviderToken')
  assert.equal(await reason('basic x'), 'InvalidProviderToken')
  assert.equal(await reason('bearer x.y.z'), 'InvalidProviderToken')
  assert.equal(await reason(await signToken({ ...credentials, keyId: 'OTHER' }, now)), 'InvalidProviderToken')
  assert.equal(await reason(await signToken({ ...credentials, teamId: 'OTHER' }, now)), 'InvalidProviderToken')
  assert.equal(await reason(await signToken({ ...credentials, key: standIn.key().key }, now)), 'InvalidProviderToken')
  assert.equal(await reason(await signToken(standIn.key({ environment: 'sandbox' }), now)), 'BadEnvironmentKeyInToken')
  assert.equal(await reason(await signToken(standIn.key({ topics: ['com.example.b'] }), now)), 'TopicDisallowed')
  assert.equal(await reason(authorization), undefined)
  now += 3_600_001
  assert.equal(await reason(authorization), 'ExpiredProviderToken')
})

test('too many new tokens of a key are refused as TooManyProviderTokenUpdates', async (t) => {
  let now = Date.now()
  const { standIn, send } = await stage(t, { clock: () => now })
  const token = standIn.device()
  const renewed = async (secondsAgo: number) =>
    (await send(token, { authorization: await signToken(standIn.credentials, now - secondsAgo * 1_000) })).json.reason
  assert.deepEqual([await renewed(4), await renewed(3), await renewed(2)], [undefined, undefined, undefined])
  assert.equal(await renewed(1), 'TooManyProviderTokenUpdates')
  assert.equal(await renewed(2), undefined, 'the old token is still valid')
  now += 21 * 60_000
  assert.equal(await renewed(0), undefined)
})

test('only the newest notification is stored for an offline device, until it expires', async (t) => {
  let now = Date.now()
  const { standIn, send } = await stage(t, { clock: () => now })
  const at = (seconds: number) => String(Math.floor(now / 1000) + seconds)
  const away = standIn.device({ online: false })
  const titled = (title: string) => ({ aps: { alert: { title } } })
  for (const title of ['one', 'two', 'three']) await send(away, { 'apns-expiration': at(600) }, titled(title))
  await send(away, { 'apns-expiration': '0' }, titled('now or never'))
  const late = standIn.device({ online: false })
  await send(late, { 'apns-expiration': at(10) }, titled('late'))
  const kept = (token: string) => standIn.kept(token).map(({ title }) => title)
  assert.deepEqual([kept(away), kept(late), kept('unknown')], [['three'], ['late'], []])
  now += 60_000
  assert.deepEqual([kept(away), kept(late)], [['three'], []])
  for (const token of [away, late]) standIn.setOnline(token, true)
  assert.deepEqual(
    standIn.shown(away).map(({ title }) => title),
    ['three'],
  )
  assert.deepEqual(standIn.shown(late), [])
  assert.deepEqual(kept(away), [])
})

test('a notification replaces one with the same collapse identity; a background notification is not shown', async (t) => {
  const { standIn, send } = await stage(t)
  const token = standIn.device()
  const custom = { aps: { alert: 'plain' }, url: 'https://a', image: 'https://i', n: 5 }
  await send(token, { 'apns-collapse-id': 'c' }, custom)
  await send(token, { 'apns-collapse-id': 'c' }, custom)
  await send(token, { 'apns-push-type': 'background', 'apns-priority': '5' }, { aps: { 'content-available': 1 } })
  const [shown, ...others] = standIn.shown(token)
  assert.deepEqual(others, [])
  assert.partialDeepStrictEqual(shown, { body: 'plain', url: 'https://a', image: 'https://i', tag: 'c', replaced: 1 })
  assert.equal(shown?.data.n, '5')
})
