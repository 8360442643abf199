// Tests the FCM stand-in against the documentation of FCM, with a plain client.

import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { request } from 'node:https'
import test, { type TestContext } from 'node:test'
import { SignJWT } from 'jose'
import { type FcmStandIn, type FcmStandInOptions, fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import type { ServiceAccountJson } from '../../src/tools/stand-ins/fcm-token-endpoint.ts'
import type { ShownNotification } from '../../src/tools/stand-ins/stand-in.ts'
import { until } from '../support/wait.ts'
import { connectClient, type Http2Answer } from './http2-client.ts'

async function stage(t: TestContext, options: FcmStandInOptions = {}) {
  const standIn = await fcmStandIn(options)
  t.after(() => standIn.close())
  const request = connectClient(t, standIn.url, standIn.ca)
  const bearer = await accessToken(standIn, standIn.credentials)
  const path = (project = 'stand-in') => `/v1/projects/${project}/messages:send`
  const send = (message: object, more: object = {}): Promise<Http2Answer> =>
    request(path(), { authorization: `Bearer ${bearer}` }, { message, ...more })
  return { standIn, request, bearer, path, send }
}

interface Claims {
  readonly scope?: string
  readonly aud?: string
  readonly iat?: number
  readonly exp?: number
}

async function assertion(account: ServiceAccountJson, claims: Claims = {}): Promise<string> {
  const iat = claims.iat ?? Math.floor(Date.now() / 1000)
  const scope = claims.scope ?? 'https://www.googleapis.com/auth/firebase.messaging'
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(account.client_email)
    .setAudience(claims.aud ?? account.token_uri)
    .setIssuedAt(iat)
    .setExpirationTime(claims.exp ?? iat + 3600)
    .sign(createPrivateKey(account.private_key))
}

function grant(
  standIn: FcmStandIn,
  form: Record<string, string>,
): Promise<{ status: number; json: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const { uri } = standIn.tokenEndpoint
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = request(uri, { method: 'POST', headers, ...(standIn.ca && { ca: standIn.ca }) }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }))
    })
    sent.on('error', reject)
    sent.end(new URLSearchParams(form).toString())
  })
}

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

async function accessToken(standIn: FcmStandIn, account: ServiceAccountJson): Promise<string> {
  const { json } = await grant(standIn, { grant_type: jwtBearer, assertion: await assertion(account) })
  return String(json.access_token)
}

const errorOf = ({ json }: Http2Answer) =>
  json.error as {
    status: string
    message: string
    details?: { errorCode?: string; fieldViolations?: { field: string }[] }[]
  }

test('the token endpoint issues a token only for an assertion with a valid signature, audience and time', async (t) => {
  const { standIn } = await stage(t)
  const account = standIn.credentials
  const requestToken = async (of: ServiceAccountJson, claims: Claims = {}) =>
    (await grant(standIn, { grant_type: jwtBearer, assertion: await assertion(of, claims) })).json
  const good = await requestToken(account)
  assert.equal(good.token_type, 'Bearer')
  assert.equal(good.expires_in, 3599)
  const now = Math.floor(Date.now() / 1000)
  const stranger = { ...account, private_key: standIn.project('other').private_key }
  assert.partialDeepStrictEqual(await requestToken(stranger), {
    error: 'invalid_grant',
    error_description: 'Invalid JWT Signature.',
  })
  assert.partialDeepStrictEqual(await requestToken({ ...account, client_email: 'a@b' }), { error: 'invalid_grant' })
  assert.partialDeepStrictEqual(await requestToken(account, { aud: 'https://elsewhere/token' }), {
    error: 'invalid_grant',
  })
  assert.match(String((await requestToken(account, { iat: now - 7200 })).error_description), /timeframe/)
  assert.match(String((await requestToken(account, { iat: now + 1200 })).error_description), /timeframe/)
  assert.match(String((await requestToken(account, { exp: now + 7200 })).error_description), /timeframe/)
  assert.equal((await requestToken(account, { scope: 'mail' })).error, 'invalid_scope')
  assert.equal((await grant(standIn, { grant_type: 'password' })).json.error, 'unsupported_grant_type')
  assert.equal((await grant(standIn, { grant_type: jwtBearer, assertion: 'no' })).status, 400)
})

test('a send needs a valid access token of the same project', async (t) => {
  let now = Date.now()
  const { standIn, request, bearer, path, send } = await stage(t, { clock: () => now })
  const message = { token: standIn.device(), notification: { title: 'a' } }
  assert.equal((await send(message)).status, 200)
  assert.equal(errorOf(await request(path(), {}, { message })).status, 'UNAUTHENTICATED')
  assert.equal((await request(path(), { authorization: 'Bearer x' }, { message })).status, 401)
  standIn.project('other')
  assert.equal(
    errorOf(await request(path('other'), { authorization: `Bearer ${bearer}` }, { message })).status,
    'PERMISSION_DENIED',
  )
  const nowhere = await request(path('nowhere'), { authorization: `Bearer ${bearer}` }, { message })
  assert.equal(nowhere.status, 404)
  assert.equal(errorOf(nowhere).details, undefined)
  assert.equal((await request('/v1/else', { authorization: `Bearer ${bearer}` }, { message })).status, 404)
  now += 3_600_000
  assert.equal((await send(message)).status, 401)
})

test('tokens of other projects, removed tokens and unknown tokens have different errors', async (t) => {
  const { standIn, send } = await stage(t)
  standIn.project('other')
  const other = await send({ token: standIn.device({ project: 'other' }) })
  assert.equal(other.status, 403)
  assert.equal(errorOf(other).details?.[0]?.errorCode, 'SENDER_ID_MISMATCH')
  const gone = standIn.device()
  standIn.forget(gone)
  const unregistered = await send({ token: gone })
  assert.equal(unregistered.status, 404)
  assert.equal(errorOf(unregistered).details?.[0]?.errorCode, 'UNREGISTERED')
  const nobody = await send({ token: 'nobody' })
  assert.equal(nobody.status, 400)
  assert.equal(errorOf(nobody).details?.[1]?.fieldViolations?.[0]?.field, 'message.token')
  const fid = standIn.device({ kind: 'fcm_fid' })
  assert.equal((await send({ fid })).status, 200)
  assert.equal((await send({ token: fid })).status, 400)
})

test('a message that FCM would refuse is refused with its error', async (t) => {
  const { standIn, send } = await stage(t)
  const token = standIn.device()
  for (const [message, expected] of [
    [{ token, data: { n: 1 } }, /message\.data\[0\]\.value/],
    [{ token, data: { from: 'x' } }, /from/],
    [{ token, data: { 'google.x': 'x' } }, /google\.x/],
    [{ token, topic: 't' }, /Only one recipient/],
    [{}, /Recipient of the message is not set/],
    [{ token, android: { ttl: '60' } }, /ttl/],
    [{ token, android: { ttl: '2419201s' } }, /TTL/],
    [{ token, android: { priority: 'URGENT' } }, /priority/],
    [{ token, notification: { title: 5 } }, /message\.notification\.title/],
    [{ token, notifcation: {} }, /notifcation/],
    [{ token, webpush: { fcm_options: { link: 'http://a' } } }, /HTTPS/],
    [{ token, data: { x: 'x'.repeat(4_100) } }, /too big/],
  ] as const) {
    const refused = await send(message)
    assert.equal(refused.status, 400, JSON.stringify(message))
    assert.match(errorOf(refused).message, expected)
  }
  assert.equal((await send({ token, android: { directBootOk: true, restrictedPackageName: 'a' } })).status, 200)
  assert.equal((await send({ token }, { more: 1 })).status, 400)
  assert.deepEqual(standIn.shown(token), [])
})

test('a message with validate_only is not delivered', async (t) => {
  const { standIn, send } = await stage(t)
  const token = standIn.device()
  const answered = await send({ token, notification: { title: 'a' } }, { validate_only: true })
  assert.equal(answered.json.name, 'projects/stand-in/messages/fake_message_id')
  assert.deepEqual(standIn.shown(token), [])
  assert.equal(standIn.arrivals[0]?.accepted, false)
})

test('a device shows notifications, and a notification replaces one with the same tag', async (t) => {
  const { standIn, send } = await stage(t)
  const token = standIn.device()
  const heard: [string, ShownNotification][] = []
  const stop = standIn.onShown((token, shown) => heard.push([token, shown]))
  const tagged = (title: string, tag: string) => ({
    token,
    notification: { title },
    android: { notification: { tag } },
  })
  await send(tagged('one', 'a'))
  await send(tagged('two', 'b'))
  await send(tagged('three', 'a'))
  stop()
  await send(tagged('four', 'c'))
  assert.deepEqual(
    standIn.shown(token).map(({ title, tag, replaced }) => [title, tag, replaced]),
    [
      ['three', 'a', 1],
      ['two', 'b', 0],
      ['four', 'c', 0],
    ],
  )
  assert.deepEqual(
    heard.map(([of, { title }]) => [of === token, title]),
    [
      [true, 'one'],
      [true, 'two'],
      [true, 'three'],
    ],
  )
})

test('messages are stored for an offline device until they expire; with more than 100, all are lost', async (t) => {
  let now = Date.now()
  const { standIn, send } = await stage(t, { clock: () => now })
  const token = standIn.device({ online: false })
  const titled = (title: string, ttl = '3600s') => ({ token, notification: { title }, android: { ttl } })
  for (let i = 1; i <= 10; i++) await send(titled(String(i)))
  await send(titled('brief', '10s'))
  await send(titled('now or never', '0s'))
  now += 60_000
  assert.equal(standIn.kept(token).length, 10)
  standIn.setOnline(token, true)
  assert.deepEqual(standIn.kept(token), [])
  assert.deepEqual(
    standIn.shown(token).map(({ title }) => title),
    Array.from({ length: 10 }, (_, i) => String(i + 1)),
  )
  const flooded = standIn.device({ online: false })
  for (let i = 0; i < 101; i++) await send({ token: flooded, notification: { title: 'x' } })
  standIn.setOnline(flooded, true)
  assert.deepEqual(standIn.shown(flooded), [])
})

test('a request that hangs is recorded and not accepted, and delays no other', async (t) => {
  const { standIn, send } = await stage(t)
  const token = standIn.device()
  standIn.play({ delayMs: 60_000, reset: 'before', times: 1 })
  let ended = false
  const end = (): void => {
    ended = true
  }
  send({ token, notification: { title: 'first' } }).then(end, end)
  await until(() => standIn.arrivals.length === 1, { awaited: 'the first request has arrived' })
  assert.equal((await send({ token, notification: { title: 'second' } })).status, 200)
  assert.equal(ended, false)
  assert.deepEqual(
    standIn.shown(token).map(({ title }) => title),
    ['second'],
  )
})

test('arrivals are recorded unchanged', async (t) => {
  const { standIn, send } = await stage(t)
  const token = standIn.device()
  await send({ token, notification: { title: 'a' } })
  standIn.play({ answer: { status: 503, headers: { 'retry-after': '5' }, body: '{}' }, times: 1 })
  const refused = await send({ token, notification: { title: 'b' } })
  assert.equal(refused.headers['retry-after'], '5')
  assert.deepEqual(
    standIn.arrivals.map(({ token: of, status, accepted, body }) => [
      of === token,
      status,
      accepted,
      JSON.parse(body).message.notification.title,
    ]),
    [
      [true, 200, true, 'a'],
      [true, 503, false, 'b'],
    ],
  )
})
