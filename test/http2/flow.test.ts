import assert from 'node:assert/strict'
import test from 'node:test'
import { FloodBudget } from '../../src/base/http2/flood-budget.ts'
import { grow, ReceiveWindow } from '../../src/base/http2/flow.ts'

test('a window may reach 2^31-1, and one byte more is a violation', () => {
  assert.equal(grow(1, 0x7ffffffe), 0x7fffffff)
  assert.equal(grow(-10, 5), -5)
  assert.throws(() => grow(1, 0x7fffffff), { errorCode: 3 })
})

test('the bytes of half a window are given back at once, and bytes beyond the window are refused', () => {
  const window = new ReceiveWindow(100)
  assert.equal(window.receive(49), true)
  assert.equal(window.takeIncrement(), 0)
  assert.equal(window.receive(1), true)
  assert.equal(window.takeIncrement(), 50)
  assert.equal(window.receive(100), true)
  assert.equal(window.receive(1), false)
})

test('a peer may send 10,000 frames without effect at once, then 1,000 a second, and 16 for each answer', () => {
  const budget = new FloodBudget(0)
  const spend = (times: number, now: number) => {
    for (let n = 0; n < times; n++)
      assert.equal(
        budget.spend(() => now),
        true,
        `frame ${n}`,
      )
  }
  spend(10_000, 0)
  assert.equal(
    budget.spend(() => 0),
    false,
  )
  budget.addAnswer()
  spend(15, 0)
  // The refused frame was counted too.
  assert.equal(
    budget.spend(() => 0),
    false,
  )
  spend(500, 500)
  assert.equal(
    budget.spend(() => 500),
    false,
  )
})
