import assert from 'node:assert/strict'
import test from 'node:test'
import { createRateLimiter } from '../../src/base/runtime/rate-limiter.ts'

test('an empty bucket returns the time to wait, and refills evenly', () => {
  const limiter = createRateLimiter(100, 60_000)
  assert.equal(limiter.consume('a', 60, 0), 0)
  assert.equal(limiter.consume('a', 60, 0), 12_000)
  assert.equal(limiter.consume('a', 40, 0), 0)
  assert.equal(limiter.consume('b', 100, 0), 0, 'another key has its own bucket')
  assert.equal(limiter.consume('a', 20, 6_000), 6_000)
  assert.equal(limiter.consume('a', 20, 12_100), 0)
  assert.equal(limiter.consume('a', 100, 3_600_000), 0, 'never more than a full bucket')
  assert.equal(limiter.consume('a', 1, 3_600_000), 600)
})

test('above the limit of keys, the least recently used key is dropped', () => {
  const limiter = createRateLimiter(1, 1_000, 2)
  for (const key of ['a', 'b', 'c']) assert.equal(limiter.consume(key, 1, 0), 0)
  assert.ok(limiter.consume('c', 1, 0) > 0)
  assert.equal(limiter.consume('a', 1, 0), 0, 'dropped')
})
