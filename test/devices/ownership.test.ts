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

test('of two links of one user with equal times, the same one wins in either order', () => {
  const one = linked(link('a', '2026-01-01T00:00:00', { kind: 'apns', environment: 'sandbox' }))
  const other = linked(link('a', '2026-01-01T00:00:00', { kind: 'apns', environment: 'production' }))
  assert.deepEqual(merge(one, other), merge(other, one))
})

test('links with equal times are ordered by the UTF-8 bytes of their user ids, as both databases compare them', () => {
  // U+FF5E is greater in UTF-16, U+1F600 in UTF-8.
  const state = merge(linked(link('\uff5e', '2026-01-01T00:00:00')), linked(link('\u{1f600}', '2026-01-01T00:00:00')))
  assert.equal(owner(state), '\u{1f600}')
})

test('a device that was moved and then unlinked belongs to nobody, not to its former user', () => {
  const state = [
    linked(link('a', '2026-01-01T00:00:01')),
    linked(link('b', '2026-01-01T00:00:02')),
    unlinked('b', '2026-01-01T00:00:03'),
  ].reduce(merge)
  assert.equal(owner(state), undefined)
})
