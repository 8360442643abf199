import assert from 'node:assert/strict'
import test from 'node:test'
import { createWrongKeys } from '../../src/base/http/wrong-keys.ts'
import { on } from '../../src/base/runtime/events.ts'
import { event } from '../support/wait.ts'

const createClock = (): { now: () => number; advance(ms: number): void } => {
  let time = 0
  return {
    now: () => time,
    advance(ms) {
      time += ms
    },
  }
}

test('after a burst of wrong keys only ten keys a second of an address are checked, right or wrong', () => {
  const { now, advance } = createClock()
  const keys = createWrongKeys({ now })
  const guess = (): string => keys.judge('192.0.2.1', undefined)
  assert.deepEqual(new Set(Array.from({ length: 100 }, guess)), new Set(['wrong']))
  assert.equal(guess(), 'wait')
  assert.equal(keys.judge('192.0.2.1', 'platform'), 'wait', 'a right guess looks like a wrong one')
  advance(1_000)
  assert.equal(Array.from({ length: 20_000 }, guess).filter((verdict) => verdict === 'wrong').length, 10)
  assert.equal(keys.judge('192.0.2.2', 'platform'), 'right', 'other addresses are not affected')
})

test('a key that was right from an address is always accepted there, however many wrong keys follow', () => {
  const { now, advance } = createClock()
  const keys = createWrongKeys({ now })
  assert.equal(keys.judge('192.0.2.1', 'platform'), 'right')
  for (let i = 0; i < 1_000; i++) keys.judge('192.0.2.1', undefined)
  assert.equal(keys.judge('192.0.2.1', 'platform'), 'right')
  assert.equal(keys.judge('192.0.2.1', 'new'), 'wait')
  advance(100)
  assert.equal(keys.judge('192.0.2.1', 'new'), 'right')
})

test('IPv6 addresses count by their first 64 bits, in every notation', () => {
  const keys = createWrongKeys({ burst: 2, now: () => 0 })
  assert.equal(keys.judge('2001:db8::1', undefined), 'wrong')
  assert.equal(keys.judge('2001:db8:0:0:ffff::2', undefined), 'wrong')
  assert.equal(keys.judge('2001:db8:0:0:1:2:3:4', undefined), 'wait')
  assert.equal(keys.judge('2001:db8:0:1::1', undefined), 'wrong')
  assert.equal(keys.judge('::ffff:192.0.2.1', undefined), 'wrong')
  assert.equal(keys.judge('192.0.2.1', undefined), 'wrong')
  assert.equal(keys.judge('192.0.2.1', undefined), 'wait')
})

test('the number of addresses in memory is limited', () => {
  const keys = createWrongKeys({ burst: 1, addresses: 10, now: () => 0 })
  for (let i = 0; i < 11; i++) keys.judge(`192.0.2.${i}`, undefined)
  assert.equal(keys.judge('192.0.2.10', undefined), 'wait')
  assert.equal(keys.judge('192.0.2.0', undefined), 'wrong', 'the oldest address was dropped')
})

test('the first refusal of an address is logged at once, later ones once per period with their count', async (t) => {
  const logged: unknown[] = []
  t.after(on('keys.refused', (refused) => logged.push(refused)))
  const keys = createWrongKeys({ logEveryMs: 1 })
  const summed = event('keys.refused', ({ count }) => count > 1)
  for (let i = 0; i < 50; i++) keys.judge('192.0.2.1', undefined)
  for (let i = 0; i < 50; i++) keys.countMissing('192.0.2.1')
  assert.deepEqual(await summed, { address: '192.0.2.1', count: 99 })
  assert.deepEqual(logged, [
    { address: '192.0.2.1', count: 1 },
    { address: '192.0.2.1', count: 99 },
  ])
})
