import assert from 'node:assert/strict'
import test from 'node:test'
import { type Breaker, createBreaker } from '../../src/base/runtime/breaker.ts'

const create = (): Breaker => createBreaker({ after: 3, firstMs: 1_000, mostMs: 4_000 }, () => 1)

function createOpen(): Breaker {
  const breaker = create()
  assert.equal(breaker.recordFailure(false, 0), undefined)
  assert.equal(breaker.recordFailure(false, 0), undefined)
  assert.equal(breaker.recordFailure(false, 0), 1_000)
  return breaker
}

test('the breaker opens only after consecutive failures', () => {
  const breaker = create()
  for (let i = 0; i < 10; i++) {
    breaker.recordFailure(false, 0)
    breaker.recordFailure(false, 0)
    assert.equal(breaker.recordSuccess(false), false)
  }
  assert.equal(breaker.admit(0), 'go')
})

test('an open breaker returns the time to wait, and then admits one call as the probe', () => {
  const breaker = createOpen()
  assert.deepEqual(breaker.admit(400), { retryAfterMs: 600 })
  assert.equal(breaker.admit(1_000), 'probe')
  assert.deepEqual(breaker.admit(1_000), { retryAfterMs: 1_000 })
})

test('a successful probe closes the breaker', () => {
  const breaker = createOpen()
  breaker.admit(1_000)
  assert.equal(breaker.recordSuccess(true), true)
  assert.equal(breaker.admit(1_000), 'go')
  assert.equal(breaker.recordFailure(false, 1_000), undefined)
})

test('failed probes keep the breaker open for a growing time, or for the time of Retry-After', () => {
  const breaker = createOpen()
  breaker.admit(1_000)
  assert.equal(breaker.recordFailure(true, 1_000), 2_000)
  breaker.admit(3_000)
  assert.equal(breaker.recordFailure(true, 3_000), 4_000)
  breaker.admit(7_000)
  assert.equal(breaker.recordFailure(true, 7_000), 4_000)
  breaker.admit(11_000)
  assert.equal(breaker.recordFailure(true, 11_000, 60_000), 60_000)
})

test('calls that started before the breaker opened neither close it nor extend its time', () => {
  const breaker = createOpen()
  assert.equal(breaker.recordSuccess(false), false)
  assert.equal(breaker.recordFailure(false, 500), undefined)
  assert.deepEqual(breaker.admit(900), { retryAfterMs: 100 })
})

test('after a probe with an unknown outcome, another probe is admitted', () => {
  const breaker = createOpen()
  breaker.admit(1_000)
  breaker.recordUnknown(true)
  assert.equal(breaker.admit(1_000), 'probe')
})

test('a pause opens the breaker for the requested time, and a second pause does not extend that time', () => {
  const breaker = createBreaker({ after: 3, firstMs: 1_000, mostMs: 4_000 }, () => 1)
  assert.equal(breaker.pause(false, 0, 30_000), 30_000)
  assert.equal(breaker.pause(false, 10, 60_000), undefined)
  assert.equal(breaker.restMs(10_000), 20_000)
  assert.equal(breaker.restMs(30_000), 0)
  assert.equal(breaker.admit(30_000), 'probe')
  assert.equal(breaker.restMs(30_000), 1_000, 'while the probe is in flight')
  assert.equal(breaker.pause(true, 30_000, 5_000), 5_000)
  breaker.admit(35_000)
  assert.equal(breaker.recordSuccess(true), true)
  assert.equal(breaker.restMs(35_000), 0)
})
