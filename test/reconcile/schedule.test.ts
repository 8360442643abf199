import assert from 'node:assert/strict'
import test from 'node:test'
import { Refused } from '../../src/reconcile/refusal.ts'
import { dueAt } from '../../src/reconcile/schedule.ts'
import { leastUsers, mostUsers, refuseGrown, refuseShrunk } from '../../src/reconcile/size.ts'

test('a run is due so long after the last one, sooner after a refusal, at once after an interruption', () => {
  const last = { state: 'done', asked_at: 1_000, why: null } as const
  assert.equal(dueAt(undefined, undefined), Number.POSITIVE_INFINITY)
  assert.equal(dueAt(last, undefined), Number.POSITIVE_INFINITY)
  assert.equal(dueAt(undefined, 60_000), 0)
  assert.equal(dueAt(last, 86_400_000), 86_401_000)
  assert.equal(dueAt({ ...last, state: 'refused', why: 'silent' }, 86_400_000), 601_000)
  assert.equal(dueAt({ ...last, state: 'refused', why: 'silent' }, 60_000), 61_000)
  assert.equal(dueAt({ ...last, state: 'refused', why: 'interrupted' }, 86_400_000), 0)
})

test('a list may shrink and grow by a part, or by a few', () => {
  const limits = { shrink: 20, grow: 50, slack: 10 }
  const of = (users: number) => ({ users, of: 'the last good list' as const })
  assert.deepEqual(
    [0, 5, 100, 1_000_000].map((users) => mostUsers(of(users), limits)),
    [10, 15, 150, 1_500_000],
  )
  assert.deepEqual(
    [0, 5, 40, 100, 1_000_000].map((users) => leastUsers(of(users), limits)),
    [0, 0, 30, 80, 800_000],
  )
  assert.doesNotThrow(() => refuseGrown(150, of(100), limits))
  assert.doesNotThrow(() => refuseShrunk(80, of(100), limits))
  assert.throws(() => refuseGrown(151, of(100), limits), Refused)
  assert.throws(() => refuseShrunk(79, of(100), limits), Refused)
})
