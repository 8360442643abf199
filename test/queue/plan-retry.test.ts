import assert from 'node:assert/strict'
import test from 'node:test'
import { planRetry } from '../../src/base/queue/lane/plan-retry.ts'
import type { Fatal } from '../../src/contract/outcome.ts'

const retry = { firstMs: 1_000, mostMs: 300_000 }
const fatal: Fatal = { category: 'fatal', reason: 'unavailable', blame: 'message', rule: 'r', error: 'busy' }
const planAfter = (attempt: number, over: Partial<Fatal> = {}, memoryFull = false) =>
  planRetry({ attempt, uncountedAttempts: 0 }, { ...fatal, ...over }, retry, { counts: true, memoryFull }, () => 1)

test('§7.1: retries never end, and their backoff grows', () => {
  assert.deepEqual(planAfter(1), { action: 'retry', inMs: 1_000, postpone: false })
  assert.deepEqual(planAfter(1_000), { action: 'retry', inMs: 300_000, postpone: true })
})

test('items with a delay over 30 seconds are postponed, and all delayed items if memory is full', () => {
  assert.deepEqual(planAfter(5), { action: 'retry', inMs: 16_000, postpone: false })
  assert.deepEqual(planAfter(6), { action: 'retry', inMs: 32_000, postpone: true })
  assert.deepEqual(planAfter(1, { retryAfterMs: 45_000 }), { action: 'retry', inMs: 45_000, postpone: true })
  assert.deepEqual(planAfter(1, {}, true), { action: 'retry', inMs: 1_000, postpone: true })
})

test('a lane with a limit of attempts gives up when the limit is reached', () => {
  const limited = { ...retry, attempts: 3 }
  const conditions = { counts: true, memoryFull: false }
  assert.equal(planRetry({ attempt: 2, uncountedAttempts: 0 }, fatal, limited, conditions).action, 'retry')
  assert.deepEqual(planRetry({ attempt: 3, uncountedAttempts: 0 }, fatal, limited, conditions), {
    action: 'give up',
    error: 'given up after 3 attempts: busy',
  })
})

test('an attempt that does not count lengthens the backoff, but not the number of attempts', () => {
  const uncounted = (count: number) =>
    planRetry(
      { attempt: 3, uncountedAttempts: count },
      fatal,
      { ...retry, attempts: 3 },
      { counts: false, memoryFull: false },
      () => 1,
    )
  assert.deepEqual(uncounted(0), { action: 'retry', inMs: 4_000, postpone: false })
  assert.deepEqual(uncounted(4), { action: 'retry', inMs: 64_000, postpone: false })
})
