import assert from 'node:assert/strict'
import test from 'node:test'
import { createTokenBucket } from '../../src/base/runtime/token-bucket.ts'

test('a bucket is full at first, refills evenly, and is never more than full', () => {
  const bucket = createTokenBucket(10, 1_000)
  bucket.take(10, 0)
  assert.equal(bucket.waitMs(1, 0), 100)
  assert.equal(bucket.waitMs(50, 0), 1_000, 'for more than its size: until it is full')
  assert.equal(bucket.waitMs(3, 300), 0)
  bucket.take(3, 300)
  bucket.take(10, 3_600_000)
  assert.equal(bucket.waitMs(1, 3_600_000), 100)
})
