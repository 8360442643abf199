import assert from 'node:assert/strict'
import test from 'node:test'
import { Check } from 'typebox/value'
import {
  checkDeviceEvent,
  DeviceAnswer,
  DeviceEventRecord,
  OwnDeviceRecord,
  readDeviceEvent,
} from '../../src/contract/device-events.ts'

const token = { token: 't-1', channel: 'android', provider: 'firebase' }
const record = { user_id: '1001', tokens: [token], timestamp: '2026-01-01T10:00:00Z', origin: 'www.example.com' }

test('a record is read, with its additional properties; null counts as absent', () => {
  const apns = { ...token, provider: 'apns', environment: 'sandbox', app: 'com.example', x: null, kind: null }
  for (const given of [
    { ...record, more: { a: 1 } },
    { ...record, skip_publishing: true },
    { ...record, tokens: [apns, token], skip_publishing: null },
    { ...record, invalid: 'a property of this name is no error' },
  ]) {
    assert.deepEqual(readDeviceEvent(JSON.stringify(given)), given)
    assert.deepEqual(readDeviceEvent(Buffer.from(JSON.stringify(given))), given)
  }
})

test('a record without tokens is valid', () => {
  assert.deepEqual(checkDeviceEvent({ ...record, tokens: [] }), { ...record, tokens: [] })
})

test('every error names the member, its value and the remedy, and never shows a token', () => {
  const without = (name: keyof typeof record) => ({ ...record, [name]: undefined })
  const plain = (most: number) => `give a string of 1 to ${most} characters without control characters`
  const theToken =
    'give the token, a string of 1 to 4096 characters without control characters (webpush: the PushSubscription as JSON text)'
  const theTokens = 'give an array of at most 100 tokens, only those just linked or unlinked'
  const inToken = (over: object) => ({ ...record, tokens: [token, { ...token, ...over }] })
  for (const [value, error] of [
    [record, undefined],
    [{ ...record, tokens: [] }, undefined],
    [{ ...record, origin: '' }, undefined],
    [inToken({ channel: 'windows' }), 'tokens[1].channel is "windows": give android, ios, web or unknown'],
    [inToken({ provider: undefined }), `tokens[1].provider is missing: ${plain(64)}`],
    [inToken({ token: '' }), `tokens[1].token is an empty string: ${theToken}`],
    [inToken({ token: 5 }), `tokens[1].token is a number: ${theToken}`],
    [inToken({ token: null }), `tokens[1].token is null: ${theToken}`],
    [inToken({ token: { endpoint: 'x' } }), `tokens[1].token is an object: ${theToken}`],
    [inToken({ token: 'x'.repeat(4097) }), `tokens[1].token is a string of 4097 characters: ${theToken}`],
    [inToken({ kind: 7 }), `tokens[1].kind is 7: ${plain(64)}`],
    [{ ...record, tokens: ['t-1'] }, 'tokens[0] is a string of 3 characters: give an object'],
    [{ ...record, tokens: 't-1' }, `tokens is a string of 3 characters: ${theTokens}`],
    [{ ...record, tokens: Array.from({ length: 101 }, () => token) }, `tokens is an array of 101: ${theTokens}`],
    [without('tokens'), `tokens is missing: ${theTokens}`],
    [{ ...record, tokens: {} }, `tokens is an object: ${theTokens}`],
    [{ ...record, user_id: 1001 }, `user_id is 1001: ${plain(255)}`],
    [{ ...record, user_id: '' }, `user_id is "": ${plain(255)}`],
    // 255 characters for JSON Schema, but 510 UTF-16 units, which is too long for a key of the store.
    [{ ...record, user_id: '😀'.repeat(255) }, `user_id is "${'😀'.repeat(49)}`],
    [without('user_id'), `user_id is missing: ${plain(255)}`],
    [without('timestamp'), 'timestamp is missing: give a time in RFC 3339 with a time zone, such as "2026-01-31T10'],
    [{ ...record, timestamp: '2026-01-01 10:00' }, 'timestamp is "2026-01-01 10:00": give a time in RFC 3339 with'],
    [without('origin'), 'origin is missing: give a string of 0 to 255 characters'],
    [{ ...record, skip_publishing: 'yes' }, 'skip_publishing is "yes": give true or false'],
    [[record], 'the record is an array of 1: give an object'],
    [null, 'the record is null: give an object'],
    ['secret', 'the record is a string of 6 characters: give an object'],
  ] as const) {
    const json = JSON.parse(JSON.stringify(value))
    const read = checkDeviceEvent(json)
    assert.equal(Check(DeviceEventRecord, json), error === undefined, JSON.stringify(value))
    if (error === undefined) assert.deepEqual(read, json)
    else assert.equal(String(read).slice(0, error.length), error)
  }
})

test('an unreadable or unstorable record is refused, and the error never contains a token', () => {
  const bodies = {
    'U+0000': JSON.stringify({ ...record, user_id: 'a\0b' }),
    'a control character': JSON.stringify({ ...record, tokens: [{ ...token, token: 'secret-token\n' }] }),
    'half a character': `${JSON.stringify(record).slice(0, -1)},"user_id":"\\ud800"}`,
    'not JSON': '{"user_id":"1001","tokens":[{"token":"secret-token"',
    'a token without quotes': '{"user_id":"1001","tokens":[{"token":secret-token}]}',
    'an empty body': '',
    'invalid UTF-8': Buffer.concat([Buffer.from('{"user_id":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    '10,000 levels': `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    'wrong channel': JSON.stringify({ ...record, tokens: [{ ...token, token: 'secret-token', channel: 7 }] }),
  }
  for (const [name, body] of Object.entries(bodies)) {
    const read = readDeviceEvent(body)
    assert.ok(typeof read === 'string', name)
    assert.ok(read.length > 10 && !/secret-to|cret-token/.test(read), `${name}: ${read}`)
  }
})

test("on the operator's own API, timestamp, origin and channel are optional", () => {
  const own = { user_id: '1001', tokens: [{ token: 't', provider: 'apns' }] }
  assert.equal(typeof checkDeviceEvent(own), 'string')
  const nulls = { ...own, tokens: [{ token: 't', provider: 'apns', channel: null }], timestamp: null, origin: null }
  for (const valid of [own, nulls, record]) assert.ok(Check(OwnDeviceRecord, valid))
  assert.ok(!Check(OwnDeviceRecord, { ...own, timestamp: 5 }))
  assert.ok(Check(DeviceAnswer, { accepted: 0 }))
})
