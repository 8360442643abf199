import assert from 'node:assert/strict'
import test from 'node:test'
import { checkDeviceEvent } from '../../src/contract/device-events.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { type DeviceEvent, eventsOf, type Judge } from '../../src/subjects/devices/device-event.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import { subscription } from './subscription.ts'

function read(tokens: readonly object[], what: 'link' | 'unlink' = 'link', over: object = {}, judge?: Judge) {
  const record = checkDeviceEvent({
    user_id: '1001',
    tokens,
    timestamp: '2026-01-01T8:00:00.50+01:00',
    origin: 'o',
    ...over,
  })
  assert.ok(typeof record !== 'string', String(record))
  return eventsOf(record, { what, brand: '1', judge })
}
const events = (...args: Parameters<typeof read>): readonly DeviceEvent[] => {
  const found = read(...args)
  assert.ok(!('invalid' in found), JSON.stringify(found))
  return found
}
const refusal = (...args: Parameters<typeof read>): string => {
  const found = read(...args)
  assert.ok('invalid' in found)
  return found.invalid
}

test('each provider of row 18 is converted to a kind of device', () => {
  const firebase = { token: 't', channel: 'android', provider: 'firebase' }
  const kinds = events([
    firebase,
    { ...firebase, kind: 'fcm_fid' },
    { ...firebase, provider: 'FCM' },
    { ...firebase, provider: 'apns', environment: 'sandbox', app: 'com.example' },
    { ...firebase, provider: 'apns', environment: 'development' },
    { ...firebase, provider: 'apns' },
    { ...firebase, provider: 'http:onesignal' },
    { ...firebase, provider: 'OneSignal' },
  ]).map(({ kind, environment, app }) => [kind, environment, app])
  assert.deepEqual(kinds, [
    ['fcm_token', '', ''],
    ['fcm_fid', '', ''],
    ['fcm_token', '', ''],
    ['apns', 'sandbox', 'com.example'],
    ['apns', 'sandbox', ''],
    ['apns', '', ''],
    ['http:onesignal', '', ''],
    ['http:onesignal', '', ''],
  ])
  assert.match(refusal([{ ...firebase, provider: 'my provider!' }]), /tokens\[0\]\.provider is not known: use firebase/)
  assert.match(refusal([firebase, { ...firebase, kind: 'apns' }]), /tokens\[1\]\.kind .*fcm_token or fcm_fid/)
  assert.match(refusal([{ ...firebase, provider: 'apns', environment: 'beta' }]), /environment .*production or sandbox/)
})

test('each token of a record becomes one event, with the user, time and origin of the record', () => {
  const [first, second] = events(
    [
      { token: 't1', channel: 'android', provider: 'firebase' },
      { token: 't2', channel: 'unknown', provider: 'apns' },
    ],
    'unlink',
    { skip_publishing: true },
  )
  const common = {
    what: 'unlink',
    brand: '1',
    userId: '1001',
    at: '2026-01-01T07:00:00.5',
    origin: 'o',
    skipPublishing: true,
  }
  assert.partialDeepStrictEqual(first, { ...common, token: 't1', id: deviceId('t1'), channel: 'android' })
  assert.partialDeepStrictEqual(second, { ...common, token: 't2', channel: 'unknown' })
  assert.deepEqual(events([]), [])
})

test('equal Web Push subscriptions are one device, and an incomplete subscription is rejected', () => {
  const { token: _, ...one } = subscription('https://push.example/send/abc')
  const token = (value: object) => ({ token: JSON.stringify(value), channel: 'web', provider: 'webpush' })
  const [plain, more, padded] = events([
    token(one),
    token({
      expirationTime: null,
      keys: { auth: one.keys.auth, p256dh: one.keys.p256dh, x: 1 },
      endpoint: one.endpoint,
    }),
    token({ ...one, keys: { ...one.keys, auth: `${one.keys.auth}==` } }),
  ])
  assert.equal(plain?.kind, 'webpush')
  assert.deepEqual(JSON.parse(plain?.token as string), one)
  assert.equal(more?.token, plain?.token)
  assert.equal(padded?.token, plain?.token)
  assert.equal(more?.id, plain?.id)
  for (const [invalid, expected] of [
    [{ ...one, endpoint: 'abc' }, /endpoint/],
    [{ endpoint: one.endpoint }, /p256dh/],
    [{ ...one, keys: { ...one.keys, p256dh: one.keys.auth } }, /p256dh of 65 bytes/],
    [{ ...one, keys: { ...one.keys, auth: 'AAAA' } }, /auth of 16 bytes/],
  ] as const)
    assert.match(refusal([token(invalid)]), expected)
  assert.match(refusal([{ ...token(one), token: one.endpoint }]), /JSON\.stringify\(subscription\)/)
  const [byEndpoint] = events([{ ...token(one), token: one.endpoint }], 'unlink')
  assert.equal(byEndpoint?.id, plain?.id)
})

test('judge is called for the link of a Web Push device, and not for an unlink or another kind', () => {
  const judged: Device[] = []
  const judge: Judge = (device) => {
    judged.push(device)
    return device.token.includes('forbidden') ? 'the host is not on the list' : undefined
  }
  const token = (host: string) => ({
    token: subscription(`https://${host}/x`).token,
    channel: 'web',
    provider: 'webpush',
  })
  assert.match(
    refusal([token('good.example'), token('forbidden.example')], 'link', {}, judge),
    /tokens\[1\].*not on the list/,
  )
  assert.equal(events([token('forbidden.example')], 'unlink', {}, judge).length, 1)
  assert.equal(events([{ token: 'forbidden', channel: 'ios', provider: 'apns' }], 'link', {}, judge).length, 1)
  assert.deepEqual(
    judged.map(({ brand, userId, kind }) => [brand, userId, kind]),
    [
      ['1', '1001', 'webpush'],
      ['1', '1001', 'webpush'],
    ],
  )
})

const hex = '87dfa5441daae30c1122334455667788'.repeat(2)

test('a token is the same device in each form in which people paste it', () => {
  const linked = (token: string, provider = 'apns') => events([{ token, channel: 'ios', provider }])[0]
  for (const text of [
    ` ${hex}`,
    hex.toUpperCase(),
    `"${hex}"`,
    `'${hex}'`,
    `<${hex.replace(/(.{8})/g, '$1 ').trim()}>`,
    `"<${hex
      .toUpperCase()
      .replace(/(.{8})/g, '$1 ')
      .trim()}>"`,
  ]) {
    const event = linked(text)
    assert.equal(event?.token, hex, text)
    assert.equal(event?.id, deviceId(hex))
    // A message names its target in the same forms, and an app unlinks it so.
    assert.equal(deviceId(text), deviceId(hex), text)
    assert.equal(events([{ token: text, channel: 'ios', provider: 'apns' }], 'unlink')[0]?.id, deviceId(hex))
  }
  assert.equal(linked(' "abc:APA91" ', 'firebase')?.token, 'abc:APA91')
  assert.equal(linked('abc:APA91', ' Firebase ')?.kind, 'fcm_token')
  assert.equal(linked(' ExponentPushToken[x] ', 'http:expo')?.token, 'ExponentPushToken[x]')
  const { token } = subscription('https://push.example/send/abc')
  assert.equal(linked(JSON.stringify(token), 'webpush')?.token, token)
})

test('a text that can never be a token is refused when it is linked, and an unlink of it changes nothing', () => {
  for (const [provider, token, expected] of [
    ['firebase', 'null', /tokens\[0\]\.token is "null", which is no token/],
    ['firebase', 'undefined', /no token/],
    ['firebase', '"null"', /no token/],
    ['firebase', '  ', /is "", which is no token/],
    ['firebase', 'BLACKLISTED', /no token/],
    ['firebase', 'SERVICE_NOT_AVAILABLE', /no token/],
    ['apns', 'ExponentPushToken[xxxx]', /http:expo/],
    ['firebase', 'ExpoPushToken[xxxx]', /http:expo/],
    ['firebase', '{"token":"x"}', /no token of Firebase/],
    ['apns', 'abc:APA91', /no token of APNs: send its hexadecimal digits/],
    ['apns', 'a'.repeat(401), /no token of APNs/],
    ['http:mine', 'undefined', /no token/],
  ] as const) {
    assert.match(refusal([{ token, channel: 'ios', provider }]), expected)
    assert.equal(events([{ token, channel: 'ios', provider }], 'unlink').length, 1)
  }
})
