import assert from 'node:assert/strict'
import test from 'node:test'
import { AnswerRefused } from '../../src/subjects/reconcile/answer-refused.ts'
import { nextRunAt } from '../../src/subjects/reconcile/schedule.ts'
import { maxUsers, minUsers, refuseGrownList, refuseShrunkList } from '../../src/subjects/reconcile/size-limits.ts'

test('a run is due one interval after the last run, sooner after a refusal, and at once after an interruption', () => {
  const last = { state: 'done', requested_at: 1_000, why: null } as const
  assert.equal(nextRunAt(undefined, undefined), Number.POSITIVE_INFINITY)
  assert.equal(nextRunAt(last, undefined), Number.POSITIVE_INFINITY)
  assert.equal(nextRunAt(undefined, 60_000), 0)
  assert.equal(nextRunAt(last, 86_400_000), 86_401_000)
  assert.equal(nextRunAt({ ...last, state: 'refused', why: 'silent' }, 86_400_000), 601_000)
  assert.equal(nextRunAt({ ...last, state: 'refused', why: 'silent' }, 60_000), 61_000)
  assert.equal(nextRunAt({ ...last, state: 'refused', why: 'interrupted' }, 86_400_000), 0)
})

test('a list may shrink and grow by a percentage or by a fixed number', () => {
  const limits = { shrink: 20, grow: 50, slack: 10 }
  const referenceOf = (users: number) => ({ users, of: 'the last good list' as const })
  assert.deepEqual(
    [0, 5, 100, 1_000_000].map((users) => maxUsers(referenceOf(users), limits)),
    [10, 15, 150, 1_500_000],
  )
  assert.deepEqual(
    [0, 5, 40, 100, 1_000_000].map((users) => minUsers(referenceOf(users), limits)),
    [0, 0, 30, 80, 800_000],
  )
  assert.doesNotThrow(() => refuseGrownList(150, referenceOf(100), limits))
  assert.doesNotThrow(() => refuseShrunkList(80, referenceOf(100), limits))
  assert.throws(() => refuseGrownList(151, referenceOf(100), limits), AnswerRefused)
  assert.throws(() => refuseShrunkList(79, referenceOf(100), limits), AnswerRefused)
})
