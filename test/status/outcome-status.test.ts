import assert from 'node:assert/strict'
import test from 'node:test'
import type { Outcome } from '../../src/contract/outcome.ts'
import { refuseFailed } from '../../src/contract/refusals.ts'
import { outcomeStatus, type SentMessage } from '../../src/subjects/status/outcome-status.ts'

const at = '2026-01-01T10:00:00'
const text = '{ "meta" : {"a": 1.0}, "activity" : {"id":9007199254740993} , "title":"x"}'
const message: SentMessage = {
  brand: '1',
  channel: 'push',
  userId: '1001',
  ref: '0190',
  text,
  context: { tracking: { 'x-fasttrack-id': 'f-1' } },
}
const success: Outcome = { category: 'successful', ref: '0190', rule: 'accepted' }
const statusOf = (outcome: Outcome) => outcomeStatus(message, outcome, at, 'sent')?.status

test('an outcome is sent, failed or expired; a fatal message has no status', () => {
  assert.equal(statusOf(success), 'sent')
  assert.equal(outcomeStatus(message, success, at, 'delivered')?.status, 'delivered')
  assert.equal(statusOf(refuseFailed('no_device')), 'failed')
  assert.equal(statusOf(refuseFailed('lifetime_over')), 'expired')
  assert.equal(statusOf(refuseFailed('expired_in_queue')), 'expired')
  assert.equal(
    statusOf({ category: 'fatal', reason: 'unavailable', blame: 'provider', error: 'no', rule: 'away' }),
    undefined,
  )
})

test('the meta has the activity, the tracking headers and the meta of the request, byte for byte', () => {
  const meta = '{"activity":{"id":9007199254740993},"headers":{"x-fasttrack-id":"f-1"},"meta":{"a": 1.0}}'
  assert.equal(outcomeStatus(message, success, at, 'sent')?.meta, meta)
  const single = { ...message, part: { of: { single: true as const } } }
  assert.equal(outcomeStatus(single, success, at, 'sent')?.meta, meta)
})

test('the meta of a request is where the settings say, byte for byte: at one position, or as an object of several', () => {
  const nested = {
    ...message,
    text: '{"data": {"campaign":\t{"a": 1.0, "id":9007199254740993},"größe":[1.50, "x"], "n": 5}, "activity":{"id":7}}',
    context: {},
  }
  const metaAt = (meta: string | readonly string[]) => outcomeStatus(nested, success, at, 'sent', meta)?.meta
  assert.equal(metaAt('/data/campaign'), '{"activity":{"id":7},"meta":{"a": 1.0, "id":9007199254740993}}')
  assert.equal(metaAt(['/data/größe/0']), '{"activity":{"id":7},"meta":1.50}')
  assert.equal(
    metaAt(['/data/n', '/data/campaign/id', '/data/missing', '/data/größe']),
    '{"activity":{"id":7},"meta":{"n":5,"id":9007199254740993,"größe":[1.50, "x"]}}',
  )
  for (const missing of ['/meta', '/data/n/x', '/data/größe/2', ['/a', '/b']])
    assert.equal(metaAt(missing), '{"activity":{"id":7}}')
})

test('the tracking headers of a batch belong to no single message', () => {
  const inBatch = { ...message, part: { of: {} } }
  assert.equal(
    outcomeStatus(inBatch, success, at, 'sent')?.meta,
    '{"activity":{"id":9007199254740993},"meta":{"a": 1.0}}',
  )
})
