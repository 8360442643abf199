import assert from 'node:assert/strict'
import test from 'node:test'
import { createFaults } from '../../src/stand-ins/faults.ts'

const meets = (count: number, meet: () => unknown) =>
  Array.from({ length: count }, meet).flatMap((fault, i) => (fault ? [i + 1] : []))

test('a fault plays until it is taken back', () => {
  const faults = createFaults()
  const stop = faults.play({ delayMs: 5 })
  assert.deepEqual(faults.match('a'), { delayMs: 5 })
  assert.deepEqual(faults.match('b'), { delayMs: 5 })
  stop()
  assert.equal(faults.match('a'), undefined)
  stop()
})

test('a fault may be for one token, for every so-manieth request, and for so many', () => {
  const faults = createFaults()
  faults.play({ token: 'a', times: 2 })
  assert.equal(faults.match('b'), undefined)
  assert.deepEqual(
    meets(4, () => faults.match('a')),
    [1, 2],
  )
  faults.play({ every: 3 })
  assert.deepEqual(
    meets(9, () => faults.match('a')),
    [3, 6, 9],
  )
})

test('a share is drawn from a fixed seed: the same run draws the same', () => {
  const draw = (seed?: number) => {
    const faults = createFaults(seed)
    faults.play({ share: 0.1 })
    return meets(2_000, () => faults.match('a'))
  }
  assert.deepEqual(draw(), draw())
  assert.notDeepEqual(draw(1), draw(2))
  assert.ok(draw().length > 150 && draw().length < 250, String(draw().length))
})

test('of several faults the first that fits is met, and the others still count what they are asked', () => {
  const faults = createFaults()
  faults.play({ every: 2, delayMs: 1 })
  faults.play({ delayMs: 2 })
  assert.deepEqual(
    [faults.match('a'), faults.match('a'), faults.match('a')],
    [{ delayMs: 2 }, { every: 2, delayMs: 1 }, { delayMs: 2 }],
  )
})

test('a share that is not drawn leaves the others their turn, and its times', () => {
  const faults = createFaults()
  faults.play({ share: 0, times: 1, reset: 'before' })
  faults.play({ delayMs: 2 })
  assert.deepEqual(faults.match('a'), { delayMs: 2 })
})
