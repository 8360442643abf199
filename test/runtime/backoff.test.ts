import assert from 'node:assert/strict'
import test from 'node:test'
import { longestRetryAfterMs, retryIn } from '../../src/base/runtime/backoff.ts'

const backoff = { firstMs: 1_000, mostMs: 300_000 }
const longest = (attempt: number): number => retryIn(attempt, backoff, 0, () => 1)

test('the delay doubles from firstMs to mostMs', () => {
  assert.deepEqual([1, 2, 3, 9, 10, 1_000_000].map(longest), [1_000, 2_000, 4_000, 256_000, 300_000, 300_000])
})

test('full jitter: the delay is between 0 and the whole backoff', () => {
  assert.equal(
    retryIn(5, backoff, 0, () => 0),
    0,
  )
  assert.equal(
    retryIn(5, backoff, 0, () => 0.5),
    8_000,
  )
})

test('the delay is at least Retry-After, up to ten minutes', () => {
  assert.equal(
    retryIn(1, backoff, 20_000, () => 1),
    20_000,
  )
  assert.equal(
    retryIn(9, backoff, 20_000, () => 1),
    256_000,
  )
  assert.equal(
    retryIn(1, backoff, 86_400_000, () => 1),
    longestRetryAfterMs,
  )
})
