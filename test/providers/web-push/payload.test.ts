import assert from 'node:assert/strict'
import test from 'node:test'
import { payloadOf, secondsLeft, urgencyOf } from '../../../src/subjects/providers/web-push/payload.ts'

test('the payload has the content of the message and nothing else', () => {
  assert.equal(payloadOf('p', {}).toString(), '{"push_id":"p"}')
  assert.equal(payloadOf('p', {}, { icon: '/i.png' }).toString(), '{"push_id":"p","icon":"/i.png"}')
  assert.equal(payloadOf('p', { data: '{}' }).toString(), '{"push_id":"p","data":{}}')
  assert.deepEqual(
    JSON.parse(payloadOf('p', { title: '"}', image_url: 'i', tokens: ['t'], data: '{"a":1}' }).toString()),
    {
      push_id: 'p',
      title: '"}',
      image: 'i',
      data: { a: 1 },
    },
  )
})

test('the time to live is the rest of the lifetime in whole seconds, at most four weeks', () => {
  assert.equal(secondsLeft(10_000, 0), 10)
  assert.equal(secondsLeft(10_999, 0), 10)
  assert.equal(secondsLeft(999, 0), 0)
  assert.equal(secondsLeft(0, 0), undefined)
  assert.equal(secondsLeft(-1, 0), undefined)
  assert.equal(secondsLeft(Number.MAX_SAFE_INTEGER, 0), 2_419_200)
})

test('the urgency is normal unless the message sets it', () => {
  assert.equal(urgencyOf({}), 'normal')
  assert.equal(urgencyOf({ overrides: { fcm: { urgency: 'high' } } }), 'normal')
  for (const urgency of ['very-low', 'low', 'normal', 'high'])
    assert.equal(urgencyOf({ overrides: { 'web-push': { urgency } } }), urgency)
  assert.deepEqual(urgencyOf({ overrides: { 'web-push': { ttl: 60 } } }), {
    error: 'overrides.web-push may not set "ttl": only urgency',
  })
  for (const urgency of ['HIGH', '', 5, {}, 'constructor'])
    assert.ok(typeof urgencyOf({ overrides: { 'web-push': { urgency } } }) === 'object', String(urgency))
})
