import assert from 'node:assert/strict'
import test from 'node:test'
import { judgeEndpoint, judgeRules } from '../../../src/subjects/providers/web-push/judge-endpoint.ts'
import { makeVapidKeys } from '../../../src/subjects/providers/web-push/vapid.ts'

/** A subscription with valid keys. */
function at(endpoint: string): string {
  return JSON.stringify({ endpoint, keys: { p256dh: makeVapidKeys().publicKey, auth: 'AAAAAAAAAAAAAAAAAAAAAA' } })
}

test('endpoints of the push services of all browsers may be linked', () => {
  for (const endpoint of [
    'https://fcm.googleapis.com/fcm/send/abc:APA91',
    'https://fcm.googleapis.com:443/wp/abc',
    'https://FCM.googleapis.com/fcm/send/abc',
    'https://jmt17.google.com/fcm/send/abc',
    'https://updates.push.services.mozilla.com/wpush/v2/gAAAA',
    'https://web.push.apple.com/QGuQyavXutnMH',
    'https://wns2-par02p.notify.windows.com/w/?token=BQYA',
    'https://a.b.notify.windows.com/w/?token=BQYA',
  ])
    assert.equal(judgeEndpoint(at(endpoint), {}), undefined, endpoint)
})

test('every other endpoint is refused, with the reason', () => {
  for (const [endpoint, reason] of [
    ['http://fcm.googleapis.com/fcm/send/abc', /not https/],
    ['ftp://fcm.googleapis.com/x', /not https/],
    ['file:///etc/passwd', /not https/],
    ['https://user:secret@fcm.googleapis.com/x', /contains a user name/],
    ['https://user@fcm.googleapis.com/x', /contains a user name/],
    ['https://fcm.googleapis.com:8443/x', /not a known push service/],
    ['https://fcm.googleapis.com.evil.example/x', /evil\.example, which is not a known push service; .*hosts/],
    ['https://fcm.googleapis.com./x', /not a known push service/],
    ['https://evilfcm.googleapis.com/x', /not a known push service/],
    ['https://evilnotify.windows.com/x', /not a known push service/],
    ['https://notify.windows.com/x', /not a known push service/],
    ['https://evil.example/fcm.googleapis.com', /not a known push service/],
    ['https://evil.example#fcm.googleapis.com', /not a known push service/],
    ['https://localhost/x', /not a known push service/],
    ['https://127.0.0.1/x', /IP address instead/],
    ['https://2130706433/x', /IP address instead/],
    ['https://0x7f.1/x', /IP address instead/],
    ['https://0177.0.0.1/x', /IP address instead/],
    ['https://127.1/x', /IP address instead/],
    ['https://169.254.169.254/latest/meta-data/', /IP address instead/],
    ['https://[::1]/x', /IP address instead/],
    ['https://[::ffff:127.0.0.1]/x', /IP address instead/],
    ['https://[fd00:ec2::254]/x', /IP address instead/],
    ['https://8.8.8.8/x', /IP address instead/],
  ] as const) {
    const judged = judgeEndpoint(at(endpoint), {})
    assert.match(judged ?? 'nothing', reason, endpoint)
    assert.doesNotMatch(judged ?? '', /secret/)
  }
})

test('a subscription without valid keys is refused too', () => {
  assert.match(judgeEndpoint('x', {}) ?? '', /not a JSON object/)
  assert.match(judgeEndpoint('{"endpoint":"https://fcm.googleapis.com/x"}', {}) ?? '', /no keys/)
})

test('configured hosts are allowed with their ports, but IP addresses never are', () => {
  const hosts = ['push.example.com', '*.push.example.org:8443', 'Upper.example:443']
  for (const endpoint of ['https://push.example.com/x', 'https://a.push.example.org:8443/x', 'https://upper.example/x'])
    assert.equal(judgeEndpoint(at(endpoint), { hosts }), undefined, endpoint)
  for (const endpoint of [
    'https://push.example.com:8443/x',
    'https://a.push.example.org/x',
    'https://x.push.example.com/x',
  ])
    assert.match(judgeEndpoint(at(endpoint), { hosts }) ?? '', /not a known push service/, endpoint)
  assert.match(judgeEndpoint(at('https://10.0.0.1/x'), { hosts: ['10.0.0.1'] }) ?? '', /IP address/)
})

test('a replaced origin is allowed exactly as configured', () => {
  const origins = {
    'https://jmt17.google.com': 'http://127.0.0.1:7010',
    'http://127.0.0.1:7010': 'http://127.0.0.1:7010',
  }
  assert.equal(judgeEndpoint(at('https://jmt17.google.com/fcm/send/x'), { origins }), undefined)
  assert.equal(judgeEndpoint(at('http://127.0.0.1:7010/wpush/v2/x'), { origins }), undefined)
  assert.match(judgeEndpoint(at('http://127.0.0.1:7011/wpush/v2/x'), { origins }) ?? '', /not https/)
  assert.match(judgeEndpoint(at('http://me@127.0.0.1:7010/wpush/v2/x'), { origins }) ?? '', /user name/)
  assert.match(judgeEndpoint(at('https://constructor/x'), { origins: {} }) ?? '', /not a known push service/)
})

test('invalid rules are reported', () => {
  assert.deepEqual(judgeRules({ hosts: ['push.example.com', '*.x.example:8443'], origins: {} }), [])
  for (const host of ['https://push.example.com', 'push.example.com/x', '*', '*.com*', 'localhost', ''])
    assert.equal(judgeRules({ hosts: [host] }).length, 1, host)
  for (const origin of ['https://x.example/', 'x.example', 'ws://x.example', 'https://x.example/path'])
    assert.equal(judgeRules({ origins: { 'https://x.example': origin } }).length, 1, origin)
})
