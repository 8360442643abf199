import assert from 'node:assert/strict'
import test from 'node:test'
import type { Outcome } from '../../src/contract/outcome.ts'
import { refuseFailed } from '../../src/contract/refusals.ts'
import { outcomeStatus, type SentMessage } from '../../src/status/outcome-status.ts'

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
  const single = { ...message, part: { of: { text } } }
  assert.equal(outcomeStatus(single, success, at, 'sent')?.meta, meta)
})

test('the tracking headers of a batch belong to no single message', () => {
  const inBatch = { ...message, part: { of: { text: `[${text}]` } } }
  assert.equal(
    outcomeStatus(inBatch, success, at, 'sent')?.meta,
    '{"activity":{"id":9007199254740993},"meta":{"a": 1.0}}',
  )
})
