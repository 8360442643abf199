// Two adapters of one target: an iPhone gets the same notification through FCM and through APNs.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { PushContent } from '../../src/contract/content.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { apnsNotification } from '../../src/subjects/providers/apns/notification.ts'
import { fcmMessage } from '../../src/subjects/providers/fcm/message.ts'
import { type Presentation, presentationOf } from '../../src/subjects/providers/presentation.ts'

const ref = '0192f0c1-7d2a-7cc3-98c4-dc0c0c07398f'
const now = Date.parse('2026-11-21T12:00:00Z')
const expiresAt = now + 3_600_000
const device: Device = { brand: '1', userId: '1001', kind: 'apns', token: 't', app: 'com.example', linkedAt: '' }

type Json = Record<string, unknown>
interface Apple {
  readonly headers: Json
  readonly payload: Json
}

function throughApns(content: PushContent, presentation?: Presentation): Apple | string {
  const push = { ref, device, content, expiresAt, ...(presentation && { presentation }) }
  const built = apnsNotification(push, 'com.example')
  if ('category' in built) return built.error
  const { headers, body } = built
  const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]]] : []))
  const { 'content-type': _, 'apns-topic': _topic, 'apns-id': _id, ...rest } = Object.fromEntries(pairs)
  return { headers: rest, payload: JSON.parse(body) }
}

/** As FCM converts it for Apple: the notification is the alert, and data is beside aps. */
function throughFcm(content: PushContent, presentation?: Presentation): Apple | string {
  const push = { ref, device, content, expiresAt, ...(presentation && { presentation }) }
  const built = fcmMessage({ ...push, device: { ...device, kind: 'fcm_token' } }, now)
  if ('category' in built) return built.error
  const { notification: { title, body } = {}, data, apns } = JSON.parse(built.body).message
  const alert = title !== undefined || body !== undefined ? { alert: { title, body } } : {}
  const payload = { ...data, ...apns.payload, aps: { ...alert, ...apns.payload.aps } }
  return { headers: apns.headers, payload: JSON.parse(JSON.stringify(payload)) }
}

const shown: Presentation = { sound: 'a.caf', badge: 3, category: 'OFFER', interruptionLevel: 'time-sensitive' }

for (const { of, content, presentation, aps, priority = '10' } of [
  { of: 'a title', content: { title: 'a' }, aps: { alert: { title: 'a' }, sound: 'default' } },
  { of: 'a body', content: { body: 'b' }, aps: { alert: { body: 'b' }, sound: 'default' } },
  { of: 'url and data', content: { title: 'a', url: 'https://e.x', data: '{"n":1}' } },
  {
    of: 'an image',
    content: { title: 'a', image_url: 'https://e.x/i.png' },
    aps: { alert: { title: 'a' }, sound: 'default', 'mutable-content': 1 },
  },
  { of: 'nothing', content: {}, aps: { 'content-available': 1 }, priority: '5' },
  { of: 'data only', content: { data: '{"sync":1}' }, aps: { 'content-available': 1 }, priority: '5' },
  { of: 'an image only', content: { image_url: 'https://e.x/i.png' }, aps: { 'content-available': 1 }, priority: '5' },
  {
    of: 'all fields of the presentation',
    content: { title: 'a' },
    presentation: shown,
    aps: { alert: { title: 'a' }, sound: 'a.caf', badge: 3, category: 'OFFER', 'interruption-level': 'time-sensitive' },
  },
  { of: 'the sound none', content: { title: 'a' }, presentation: { sound: 'none' }, aps: { alert: { title: 'a' } } },
  {
    of: 'data only, with a presentation',
    content: { data: '{}' },
    presentation: shown,
    aps: { 'content-available': 1 },
    priority: '5',
  },
] satisfies { of: string; content: PushContent; presentation?: Presentation; aps?: Json; priority?: string }[])
  test(`FCM and APNs show the same on an iPhone: ${of}`, () => {
    const apns = throughApns(content, presentation)
    assert.deepEqual(throughFcm(content, presentation), apns)
    assert.ok(typeof apns === 'object')
    if (aps) assert.deepEqual(apns.payload.aps, aps)
    assert.equal(apns.headers['apns-priority'], priority)
    assert.equal(apns.headers['apns-push-type'], priority === '10' ? 'alert' : 'background')
  })

/** The same overrides of `aps` and of headers, where each service expects them. */
const overridden = (content: PushContent, aps: Json, headers: Json = {}): PushContent => ({
  ...content,
  overrides: { apns: { aps, headers }, fcm: { apns: { payload: { aps }, headers } } },
})

test('overrides of a message replace the presentation, through FCM and APNs alike', () => {
  for (const [content, aps] of [
    [overridden({ title: 'a' }, { sound: null, badge: 1 }), { alert: { title: 'a' }, badge: 1 }],
    [overridden({ title: 'a' }, { sound: 'b.caf' }), { alert: { title: 'a' }, sound: 'b.caf' }],
    // A text that only the overrides have is shown, and heard.
    [overridden({}, { alert: { 'loc-key': 'K' } }), { alert: { 'loc-key': 'K' }, sound: 'default' }],
    [overridden({}, { badge: 4 }), { badge: 4 }],
  ] as const) {
    const apns = throughApns(content)
    assert.deepEqual(throughFcm(content), apns)
    assert.ok(typeof apns === 'object')
    assert.deepEqual(apns.payload.aps, aps)
    assert.equal(apns.headers['apns-push-type'], 'alert')
  }
  const lower = overridden({ title: 'a' }, {}, { 'APNS-Priority': '5', 'apns-collapse-id': null })
  assert.deepEqual(throughFcm(lower), throughApns(lower))
})

test('a push type whose topic cannot be formed fails its message, through FCM and APNs alike', () => {
  const types = 'voip liveactivity complication location pushtotalk widgets fileprovider mdm controls'.split(' ')
  for (const type of types) {
    const content = overridden({ title: 'a' }, {}, { 'apns-push-type': type })
    assert.match(throughApns(content) as string, /apns-push-type is ".*": use alert or background/)
    assert.match(throughFcm(content) as string, /apns-push-type is ".*": use alert or background/)
  }
})

test('a background notification with a text, a sound or priority 10 fails, because Apple does not deliver it', () => {
  const background = { 'apns-push-type': 'background' }
  for (const content of [
    overridden({ title: 'a' }, {}, background),
    overridden({}, { sound: 'default' }, background),
    overridden({}, {}, { 'apns-priority': '10' }),
  ]) {
    assert.match(throughApns(content) as string, /^overrides\.apns\.headers/)
    assert.match(throughFcm(content) as string, /^overrides\.fcm\.apns\.headers/)
  }
})

test('a push with a title is heard on Android, and has the operator’s channel and icon', () => {
  const androidOf = (content: PushContent, presentation: Presentation = {}) => {
    const built = fcmMessage({ ref, device, content, expiresAt, presentation }, now)
    return JSON.parse((built as { body: string }).body).message.android
  }
  assert.deepEqual(androidOf({ title: 'a' }), {
    ttl: '3600s',
    priority: 'HIGH',
    notification: { tag: ref, sound: 'default' },
  })
  const rule: Presentation = { ...shown, androidChannel: 'offers', androidPriority: 'normal', icon: 'ic_bell' }
  assert.deepEqual(androidOf({ title: 'a' }, rule), {
    ttl: '3600s',
    priority: 'NORMAL',
    notification: { tag: ref, sound: 'a', notification_count: 3, channel_id: 'offers', icon: 'ic_bell' },
  })
  assert.deepEqual(androidOf({ data: '{}' }), { ttl: '3600s' })
  assert.deepEqual(androidOf({ data: '{}' }, { androidPriority: 'high' }), { ttl: '3600s', priority: 'HIGH' })
  const over = {
    overrides: { fcm: { android: { priority: 'NORMAL', notification: { channel_id: 'x', sound: null } } } },
  }
  assert.deepEqual(androidOf({ title: 'a', ...over }, { androidChannel: 'offers' }), {
    ttl: '3600s',
    priority: 'NORMAL',
    notification: { tag: ref, channel_id: 'x' },
  })
})

test('the rules of a presentation apply by service, app and activity, and a later rule wins', () => {
  const rules = [
    { sound: 'a.caf', badge: 1 },
    { services: ['apns'], sound: 'b.caf' },
    { apps: ['com.example'], activities: ['77'], sound: 'c.caf', url: 'app://offers' },
  ]
  const of = (service: string, app?: string, activity: string | null = null) =>
    presentationOf(rules, { service, app, activity })
  assert.deepEqual(of('fcm'), { sound: 'a.caf', badge: 1 })
  assert.deepEqual(of('apns', 'com.example'), { sound: 'b.caf', badge: 1 })
  assert.deepEqual(of('apns', 'com.example', '77'), { sound: 'c.caf', badge: 1, url: 'app://offers' })
  assert.deepEqual(of('fcm', 'com.other', '77'), { sound: 'a.caf', badge: 1 })
})
