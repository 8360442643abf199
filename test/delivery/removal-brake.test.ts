import assert from 'node:assert/strict'
import test from 'node:test'
import { createWindow, minuteMs, removalLimits, tooMany } from '../../src/delivery/removal-brake.ts'

test('a hundred devices may always be removed; what comes on top, while it is at most a tenth of the sends', () => {
  const table: readonly [removals: number, sends: number, expected: boolean][] = [
    [1, 1, false],
    [100, 100, false],
    [101, 101, true],
    [101, 1_009, true],
    [101, 1_010, false],
    [101, 1_011, false],
    [1_000, 9_999, true],
    [1_000, 10_000, false],
  ]
  for (const [removals, sends, expected] of table)
    assert.equal(tooMany({ removals, sends }, removalLimits), expected, `${removals} of ${sends}`)
})

test('the window counts by the minute, a device once, and forgets what is old', () => {
  const window = createWindow()
  const start = 1_000 * minuteMs
  for (let minute = 0; minute < 3; minute++) {
    window.sent(start + minute * minuteMs)
    window.sent(start + minute * minuteMs + 59_999)
    window.removed(`device ${minute}`, `user ${minute}`, start + minute * minuteMs)
    window.removed('device 0', 'user 0', start + minute * minuteMs)
  }
  assert.deepEqual(window.tally(start), { sends: 6, removals: 3 })
  assert.deepEqual(window.tally(start + 1), { sends: 4, removals: 2 })
  window.forget(start + minuteMs)
  assert.deepEqual(window.tally(0), { sends: 4, removals: 2 })
  assert.equal(window.counts('device 0', 'user 0'), true)
  assert.equal(window.counts('device 2', 'user 2'), false)
})

test('of one user three removals count, and again when those are forgotten', () => {
  const window = createWindow()
  for (let n = 0; n < 300; n++) window.removed(`device ${n}`, '2 mallory', minuteMs)
  window.removed('device 1000', '1 mallory', minuteMs)
  assert.equal(window.tally(0).removals, 4)
  assert.equal(window.counts('device 4', '2 mallory'), false)
  window.forget(2 * minuteMs)
  assert.equal(window.counts('device 4', '2 mallory'), true)
})
