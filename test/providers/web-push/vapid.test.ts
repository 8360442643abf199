import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import test from 'node:test'
import {
  createAuthorization,
  judgeKeys,
  judgeSubject,
  makeVapidKeys,
} from '../../../src/subjects/providers/web-push/vapid.ts'

test('new keys are a valid pair, and each pair is different', () => {
  const [one, two] = [makeVapidKeys(), makeVapidKeys()]
  assert.equal(judgeKeys(one), undefined)
  assert.match(judgeKeys({ ...one, privateKey: two.privateKey }) ?? '', /does not belong to the private key/)
  assert.match(judgeKeys({ ...one, publicKey: 'A'.repeat(87) }) ?? '', /does not belong/)
  assert.match(judgeKeys({ ...one, publicKey: `${one.publicKey}=` }) ?? '', /not 65 bytes in base64url/)
  assert.match(judgeKeys({ ...one, privateKey: 'A'.repeat(43) }) ?? '', /not valid for the curve/)
  assert.match(judgeKeys({ ...one, privateKey: '' }) ?? '', /not 32 bytes/)
})

test('a subject that a push service refuses is refused at the start: Apple refuses more than others', () => {
  for (const subject of [
    'mailto:ops@example.com',
    'MAILTO:ops@Example.com',
    'https://www.example.com',
    'HTTPS://www.example.com/push',
  ])
    assert.equal(judgeSubject(subject), undefined, subject)
  for (const subject of ['', 'ops@example.com', 'mailto:', 'mailto:ops', 'http://example.com', 'https://'])
    assert.match(judgeSubject(subject) ?? '', /neither mailto: nor https:/, subject)
  for (const subject of [
    'mailto:ops@localhost',
    'https://localhost',
    'https://localhost:8080',
    'mailto:ops@machine',
    'mailto:ops@machine.local',
    'mailto:you@example.invalid',
    'https://192.168.1.5',
    'https://[::1]',
    'mailto: ops@example.com',
    'mailto:Ops <ops@example.com>',
    'mailto:<ops@example.com>',
    'mailto:a@example.com,b@example.com',
    'mailto:a@example.com;b@example.com',
  ])
    assert.match(
      judgeSubject(subject) ?? '',
      /angle brackets or spaces|not at a public domain|several addresses/,
      subject,
    )
})

test('the scheme of a subject is sent in lower case', () => {
  const authorization = createAuthorization('https://push.example', {
    ...makeVapidKeys(),
    subject: 'MAILTO:Ops@example.com',
  })
  const [, claims = ''] = authorization(0).split('.')
  assert.equal(JSON.parse(Buffer.from(claims, 'base64url').toString()).sub, 'mailto:Ops@example.com')
})

test('the header is signed once in eleven hours, and never valid for more than 24', () => {
  const vapid = { ...makeVapidKeys(), subject: 'mailto:ops@example.com' }
  const authorization = createAuthorization('https://fcm.googleapis.com', vapid)
  const hour = 3_600_000
  const start = Date.now()
  const first = authorization(start)
  const claims = (header: string) =>
    JSON.parse(Buffer.from(header.split('.')[1] as string, 'base64url').toString()) as Record<string, unknown>
  assert.deepEqual(claims(first), {
    aud: 'https://fcm.googleapis.com',
    exp: Math.floor((start + 12 * hour) / 1_000),
    sub: vapid.subject,
  })
  assert.equal(authorization(start + 11 * hour - 1), first)
  const second = authorization(start + 11 * hour)
  assert.notEqual(second, first)
  // The clock was set back.
  const third = authorization(start - hour)
  assert.equal(claims(third).exp, Math.floor((start + 11 * hour) / 1_000))
})

/** Whether the token of an Authorization header was signed by its key `k` (RFC 8292 §3). */
function isSigned(header: string): boolean {
  const [, text = '', signature = '', k = ''] = /^vapid t=([^.]+\.[^.]+)\.([\w-]+), k=([\w-]+)$/.exec(header) ?? []
  const point = Buffer.from(k, 'base64url')
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const key = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } })
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
}

test('the header has the layout of the example in RFC 8292, section 2.4, and its signature is valid as the one there', () => {
  const [audience, subject] = ['https://push.example.net', 'mailto:push@example.com']
  const signed =
    'eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0'
  const example = `vapid t=${signed}.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs`
  assert.ok(isSigned(example), 'the example of the RFC')
  for (let n = 0; n < 20; n++) {
    const keys = makeVapidKeys()
    const header = createAuthorization(audience, { ...keys, subject })((1453523768 - 12 * 3_600) * 1_000)
    assert.equal(header.slice(0, header.lastIndexOf('.')), `vapid t=${signed}`)
    assert.ok(isSigned(header) && header.endsWith(`, k=${keys.publicKey}`), header)
  }
})
