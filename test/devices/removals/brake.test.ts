import assert from 'node:assert/strict'
import test from 'node:test'
import { createWindow, exceedsLimits, minuteMs, removalLimits } from '../../../src/subjects/devices/removals/brake.ts'

test('up to a hundred devices may be removed, and more only up to a tenth of the sends', () => {
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
    assert.equal(exceedsLimits({ removals, sends }, removalLimits), expected, `${removals} of ${sends}`)
})

test('the window counts per minute, counts a device once, and drops old minutes', () => {
  const window = createWindow()
  const start = 1_000 * minuteMs
  for (let minute = 0; minute < 3; minute++) {
    window.recordSend(start + minute * minuteMs)
    window.recordSend(start + minute * minuteMs + 59_999)
    window.recordRemoval(`device ${minute}`, `user ${minute}`, start + minute * minuteMs)
    window.recordRemoval('device 0', 'user 0', start + minute * minuteMs)
  }
  assert.deepEqual(window.sumSince(start), { sends: 6, removals: 3 })
  assert.deepEqual(window.sumSince(start + 1), { sends: 4, removals: 2 })
  window.dropBefore(start + minuteMs)
  assert.deepEqual(window.sumSince(0), { sends: 4, removals: 2 })
  assert.equal(window.wouldCount('device 0', 'user 0'), true)
  assert.equal(window.wouldCount('device 2', 'user 2'), false)
})

test('one removal of a user counts, until it is dropped', () => {
  const window = createWindow()
  for (let n = 0; n < 300; n++) window.recordRemoval(`device ${n}`, '2 mallory', minuteMs)
  window.recordRemoval('device 1000', '1 mallory', minuteMs)
  assert.equal(window.sumSince(0).removals, 2)
  assert.equal(window.wouldCount('device 4', '2 mallory'), false)
  window.dropBefore(2 * minuteMs)
  assert.equal(window.wouldCount('device 4', '2 mallory'), true)
})
