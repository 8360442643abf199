import assert from 'node:assert/strict'
import test from 'node:test'
import { Check } from 'typebox/value'
import { checkDeviceEvent, DeviceAnswer, DeviceEventRecord, readDeviceEvent } from '../../src/contract/device-events.ts'

const token = { token: 't-1', channel: 'android', provider: 'firebase' }
const record = { user_id: '1001', tokens: [token], timestamp: '2026-01-01T10:00:00Z', origin: 'www.example.com' }

test('a record is read, and additional properties are ignored', () => {
  assert.deepEqual(readDeviceEvent(JSON.stringify({ ...record, more: { a: 1 } })), {
    ...record,
    skip_publishing: false,
  })
  assert.deepEqual(readDeviceEvent(Buffer.from(JSON.stringify({ ...record, skip_publishing: true }))), {
    ...record,
    skip_publishing: true,
  })
  const apns = { ...token, provider: 'apns', environment: 'sandbox', app: 'com.example', x: null, kind: null }
  assert.deepEqual(readDeviceEvent(JSON.stringify({ ...record, tokens: [apns, token], skip_publishing: null })), {
    ...record,
    tokens: [{ token: 't-1', channel: 'android', provider: 'apns', environment: 'sandbox', app: 'com.example' }, token],
    skip_publishing: false,
  })
})

test('a record without tokens is valid', () => {
  assert.deepEqual(checkDeviceEvent({ ...record, tokens: [] }), { ...record, tokens: [], skip_publishing: false })
})

test('the schema and the reader agree, and every error names the field', () => {
  const without = (name: keyof typeof record) => ({ ...record, [name]: undefined })
  for (const [value, named] of [
    [record, undefined],
    [{ ...record, tokens: [] }, undefined],
    [{ ...record, origin: '' }, undefined],
    [{ ...record, tokens: [{ ...token, channel: 'windows' }] }, 'tokens[0].channel is "windows"'],
    [{ ...record, tokens: [token, { ...token, provider: undefined }] }, 'tokens[1].provider is missing'],
    [{ ...record, tokens: [{ ...token, token: '' }] }, 'tokens[0].token is empty'],
    [{ ...record, tokens: [{ ...token, token: 5 }] }, 'tokens[0].token is a number'],
    [{ ...record, tokens: [{ ...token, token: { endpoint: 'x' } }] }, 'send a PushSubscription as JSON text'],
    [{ ...record, tokens: [{ ...token, token: 'x'.repeat(4097) }] }, 'tokens[0].token has more than 4096'],
    [{ ...record, tokens: ['t-1'] }, 'tokens[0] is a string'],
    [{ ...record, tokens: Array.from({ length: 101 }, () => token) }, 'tokens has 101'],
    [without('tokens'), 'tokens is missing'],
    [{ ...record, tokens: {} }, 'tokens is an object'],
    [{ ...record, user_id: 1001 }, 'user_id is a number'],
    [{ ...record, user_id: '' }, 'user_id is empty'],
    [without('user_id'), 'user_id is missing'],
    [without('timestamp'), 'timestamp is missing'],
    [without('origin'), 'origin is missing'],
    [{ ...record, skip_publishing: 'yes' }, 'skip_publishing is a string'],
    [[record], 'the record is an array'],
    [null, 'the record is null'],
  ] as const) {
    const json = JSON.parse(JSON.stringify(value))
    const read = checkDeviceEvent(json)
    assert.equal(Check(DeviceEventRecord, json), named === undefined, JSON.stringify(value))
    assert.equal('invalid' in read, named !== undefined, JSON.stringify(value))
    if (named !== undefined) assert.ok((read as { invalid: string }).invalid.includes(named), JSON.stringify(read))
  }
})

test('an unreadable or unstorable record is refused, and the error never contains a token', () => {
  const bodies = {
    'U+0000': JSON.stringify({ ...record, user_id: 'a\0b' }),
    'a control character': JSON.stringify({ ...record, tokens: [{ ...token, token: 'secret-token\n' }] }),
    'half a character': `${JSON.stringify(record).slice(0, -1)},"user_id":"\\ud800"}`,
    'not JSON': '{"user_id":"1001","tokens":[{"token":"secret-token"',
    'an empty body': '',
    'invalid UTF-8': Buffer.concat([Buffer.from('{"user_id":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    '10,000 levels': `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    'wrong channel': JSON.stringify({ ...record, tokens: [{ ...token, token: 'secret-token', channel: 7 }] }),
  }
  for (const [name, body] of Object.entries(bodies)) {
    const read = readDeviceEvent(body)
    assert.ok('invalid' in read, name)
    assert.ok(read.invalid.length > 10 && !read.invalid.includes('secret-token'), `${name}: ${read.invalid}`)
  }
})

test("on the operator's own API, timestamp, origin and channel are optional", () => {
  const ours = { user_id: '1001', tokens: [{ token: 't', provider: 'apns' }] }
  assert.ok('invalid' in checkDeviceEvent(ours))
  assert.deepEqual(checkDeviceEvent(ours, 'ours'), { ...ours, skip_publishing: false })
  assert.ok('invalid' in checkDeviceEvent({ ...ours, timestamp: 5 }, 'ours'))
  assert.ok(Check(DeviceAnswer, { accepted: 0 }))
})
