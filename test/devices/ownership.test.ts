import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type Link,
  linked,
  merge,
  owner,
  type TokenState,
  unknown,
  unlinked,
} from '../../src/subjects/devices/ownership.ts'
import { oracle, sequences, type TestEvent } from './sequences.ts'

const link = (userId: string, at: string, over: Partial<Link> = {}): Link => ({
  at,
  userId,
  token: 't',
  kind: 'fcm_token',
  app: '',
  environment: '',
  channel: 'android',
  origin: '',
  ...over,
})
const stateOf = ({ what, userId, time }: TestEvent): TokenState => {
  const at = `2026-01-01T00:00:0${time}`
  return what === 'link' ? linked(link(userId, at)) : unlinked(userId, at)
}

test('every sequence of up to 4 events of two users, in every arrival order, gives the owner of row 20', () => {
  const all = sequences()
  assert.equal(all.length, 4 + 16 * 3 + 64 * 13 + 256 * 75)
  for (const events of all)
    assert.equal(owner(events.map(stateOf).reduce(merge, unknown)), oracle(events), JSON.stringify(events))
})

test('merging is commutative, associative and idempotent', () => {
  const states = [unknown, ...sequences(2).map((events) => events.map(stateOf).reduce(merge, unknown))]
  for (const a of states) {
    assert.deepEqual(merge(a, a), a)
    for (const b of states) {
      assert.deepEqual(merge(a, b), merge(b, a))
      assert.deepEqual(merge(merge(a, b), b), merge(a, b))
    }
  }
  const some = states.filter((_, i) => i % 2 === 0)
  for (const a of some)
    for (const b of some) for (const c of some) assert.deepEqual(merge(merge(a, b), c), merge(a, merge(b, c)))
})
