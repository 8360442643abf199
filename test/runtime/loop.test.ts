import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createLoop, type Loop } from '../../src/runtime/loop.ts'
import { event } from '../support/wait.ts'

/** A loop whose turns a test waits for, and ends by hand. */
function stepwise(t: TestContext, rest = Number.POSITIVE_INFINITY) {
  const begun: (() => void)[] = []
  let turns = 0
  let end = Promise.withResolvers<number>()
  const loop: Loop = createLoop({
    name: 'test',
    turn: () => {
      turns++
      end = Promise.withResolvers()
      for (const resolve of begun.splice(0)) resolve()
      return end.promise
    },
  })
  t.after(() => {
    end.resolve(0)
    return loop.stop()
  })
  return {
    loop,
    turns: () => turns,
    begins: () => new Promise<void>((resolve) => begun.push(resolve)),
    end: () => end.resolve(rest),
  }
}

test('it rests until it is woken', async (t) => {
  const { loop, turns, begins, end } = stepwise(t)
  loop.start()
  end()
  await new Promise(setImmediate)
  assert.equal(turns(), 1)
  const second = begins()
  loop.wake()
  await second
})

test('it rests for as long as the turn said', async (t) => {
  const { loop, begins, end } = stepwise(t, 5)
  loop.start()
  const second = begins()
  end()
  await second
})

test('woken during a turn it takes one more, never two at a time', async (t) => {
  const { loop, turns, begins, end } = stepwise(t)
  loop.start()
  for (let i = 0; i < 5; i++) loop.wake()
  assert.equal(turns(), 1)
  const second = begins()
  end()
  await second
  end()
  await new Promise(setImmediate)
  assert.equal(turns(), 2)
})

test('stopping waits for the turn, and no other follows', async (t) => {
  const { loop, turns, end } = stepwise(t, 0)
  loop.start()
  let stopped = false
  const stop = loop.stop().then(() => {
    stopped = true
  })
  await new Promise(setImmediate)
  assert.equal(stopped, false)
  end()
  await stop
  loop.wake()
  await new Promise(setImmediate)
  assert.equal(turns(), 1)
})

test('a turn that throws is reported and repeated, however often it is woken meanwhile', async () => {
  let turns = 0
  const loop = createLoop({
    name: 'failing',
    turn: () => {
      if (++turns === 1) throw new Error('no luck')
      return Number.POSITIVE_INFINITY
    },
  })
  const failed = event('loop.failed', ({ loop: name }) => name === 'failing')
  loop.start()
  assert.deepEqual(await failed, { loop: 'failing', error: 'no luck', inMs: 100 })
  loop.wake()
  assert.equal(turns, 1)
  while (turns < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  await loop.stop()
})
