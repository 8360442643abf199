import assert from 'node:assert/strict'
import test from 'node:test'
import { createFaults } from '../../src/tools/stand-ins/faults.ts'

const matches = (count: number, match: () => unknown) =>
  Array.from({ length: count }, match).flatMap((fault, i) => (fault ? [i + 1] : []))

test('a fault is active until it is removed', () => {
  const faults = createFaults()
  const stop = faults.play({ delayMs: 5 })
  assert.deepEqual(faults.match('a'), { delayMs: 5 })
  assert.deepEqual(faults.match('b'), { delayMs: 5 })
  stop()
  assert.equal(faults.match('a'), undefined)
  stop()
})

test('a fault can apply to one token, to every n-th request, and to a number of requests', () => {
  const faults = createFaults()
  faults.play({ token: 'a', times: 2 })
  assert.equal(faults.match('b'), undefined)
  assert.deepEqual(
    matches(4, () => faults.match('a')),
    [1, 2],
  )
  faults.play({ every: 3 })
  assert.deepEqual(
    matches(9, () => faults.match('a')),
    [3, 6, 9],
  )
})

test('a share is random with a fixed seed, so each run has the same result', () => {
  const draw = (seed?: number) => {
    const faults = createFaults(seed)
    faults.play({ share: 0.1 })
    return matches(2_000, () => faults.match('a'))
  }
  assert.deepEqual(draw(), draw())
  assert.notDeepEqual(draw(1), draw(2))
  assert.ok(draw().length > 150 && draw().length < 250, String(draw().length))
})

test('the first applicable fault decides; a fault counts requests for `every` even if another fault applies', () => {
  const faults = createFaults()
  faults.play({ every: 2, delayMs: 1 })
  faults.play({ delayMs: 2 })
  assert.deepEqual(
    [faults.match('a'), faults.match('a'), faults.match('a')],
    [{ delayMs: 2 }, { every: 2, delayMs: 1 }, { delayMs: 2 }],
  )
})

test('a fault that its share leaves out does not use up its times, and the next fault applies', () => {
  const faults = createFaults()
  faults.play({ share: 0, times: 1, reset: 'before' })
  faults.play({ delayMs: 2 })
  assert.deepEqual(faults.match('a'), { delayMs: 2 })
})
