import assert from 'node:assert/strict'
import test from 'node:test'
import type { Fatal } from '../../src/contract/outcome.ts'
import { createPace } from '../../src/queue/pace.ts'
import { afterFatal } from '../../src/queue/retry.ts'

const retry = { firstMs: 1_000, mostMs: 300_000 }
const fatal: Fatal = { category: 'fatal', reason: 'unavailable', blame: 'message', rule: 'r', error: 'busy' }
const after = (attempt: number, over: Partial<Fatal> = {}, crowded = false) =>
  afterFatal({ attempt, uncounted: 0 }, { ...fatal, ...over }, retry, { counts: true, crowded }, () => 1)

test('§7.1: retries go on for ever, further and further apart', () => {
  assert.deepEqual(after(1), { is: 'again', inMs: 1_000, putOff: false })
  assert.deepEqual(after(1_000), { is: 'again', inMs: 300_000, putOff: true })
})

test('what is put off for more than 30 seconds is written down, and less when memory is crowded', () => {
  assert.deepEqual(after(5), { is: 'again', inMs: 16_000, putOff: false })
  assert.deepEqual(after(6), { is: 'again', inMs: 32_000, putOff: true })
  assert.deepEqual(after(1, { retryAfterMs: 45_000 }), { is: 'again', inMs: 45_000, putOff: true })
  assert.deepEqual(after(1, {}, true), { is: 'again', inMs: 1_000, putOff: true })
})

test('a lane with a limit gives up at it', () => {
  const limited = { ...retry, attempts: 3 }
  const how = { counts: true, crowded: false }
  assert.equal(afterFatal({ attempt: 2, uncounted: 0 }, fatal, limited, how).is, 'again')
  assert.deepEqual(afterFatal({ attempt: 3, uncounted: 0 }, fatal, limited, how), {
    is: 'given up',
    error: 'given up after 3 attempts: busy',
  })
})

test('an attempt that does not count gives up nothing, and is further and further apart all the same', () => {
  const uncounted = (count: number) =>
    afterFatal(
      { attempt: 3, uncounted: count },
      fatal,
      { ...retry, attempts: 3 },
      { counts: false, crowded: false },
      () => 1,
    )
  assert.deepEqual(uncounted(0), { is: 'again', inMs: 4_000, putOff: false })
  assert.deepEqual(uncounted(4), { is: 'again', inMs: 64_000, putOff: false })
})

test('a lane keeps its rate, and saves nothing up while it is idle', () => {
  const pace = createPace(100)
  assert.equal(pace.most, 100)
  assert.equal(pace.waitMs(10_000), 0)
  pace.spend(50, 10_000)
  assert.equal(pace.waitMs(10_000), 500)
  assert.equal(pace.waitMs(10_500), 0)
  pace.spend(1, 10_500)
  assert.equal(pace.waitMs(10_505), 5)
  assert.equal(createPace(0.5).most, 1)
})

test('a lane without a rate waits for nothing', () => {
  const pace = createPace(undefined)
  pace.spend(1_000_000, 0)
  assert.equal(pace.waitMs(0), 0)
})
