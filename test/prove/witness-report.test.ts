import assert from 'node:assert/strict'
import test from 'node:test'
import { confused, needless, type Seen, testimonyOf } from '../../prove/harness/testimony.ts'

const seen = (call: number, ref: string, brand = '1', more: Partial<Seen> = {}): Seen => {
  return { call, pid: 100, ref, id: '7', brand, user: '1001', ...more }
}

test('the same id and user of two brands are two messages, neither of them sent twice', () => {
  const testimony = testimonyOf([seen(1, 'a'), seen(1, 'b', '2')])
  assert.equal(testimony.messages.size, 2)
  assert.equal(testimony.secondCalls, 0)
  assert.deepEqual(confused(testimony), [])
})

test('a second call counts, with the same identifier or with another', () => {
  assert.equal(testimonyOf([seen(1, 'a'), seen(2, 'a')]).secondCalls, 1)
  const other = testimonyOf([seen(1, 'a'), seen(2, 'b')])
  assert.equal(other.secondCalls, 1)
  assert.equal(confused(other).length, 1)
})

test('one identifier for two messages is seen', () => {
  assert.equal(confused(testimonyOf([seen(1, 'a'), seen(1, 'a', '2')])).length, 1)
})

test('a second call is needless unless the process of the call before it was struck', () => {
  const testimony = testimonyOf([seen(1, 'a'), seen(2, 'a', '1', { pid: 200 })])
  assert.deepEqual(needless(testimony, new Set([100])), [])
  assert.equal(needless(testimony, new Set([200])).length, 1)
})
