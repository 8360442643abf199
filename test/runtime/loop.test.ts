import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createLoop, type Loop } from '../../src/base/runtime/loop.ts'
import { event } from '../support/wait.ts'

/** A loop whose turns the test awaits and ends. */
function createManualLoop(t: TestContext, rest = Number.POSITIVE_INFINITY) {
  const waiters: (() => void)[] = []
  let turns = 0
  let end = Promise.withResolvers<number>()
  const loop: Loop = createLoop('test', () => {
    turns++
    end = Promise.withResolvers()
    for (const resolve of waiters.splice(0)) resolve()
    return end.promise
  })
  t.after(() => {
    end.resolve(0)
    return loop.stop()
  })
  return {
    loop,
    turns: () => turns,
    nextTurn: () => new Promise<void>((resolve) => waiters.push(resolve)),
    endTurn: () => end.resolve(rest),
  }
}

test('a loop rests until it is woken', async (t) => {
  const { loop, turns, nextTurn, endTurn } = createManualLoop(t)
  loop.start()
  endTurn()
  await new Promise(setImmediate)
  assert.equal(turns(), 1)
  const second = nextTurn()
  loop.wake()
  await second
})

test('a loop rests for the time that its turn returned', async (t) => {
  const { loop, nextTurn, endTurn } = createManualLoop(t, 5)
  loop.start()
  const second = nextTurn()
  endTurn()
  await second
})

test('a loop that is woken during a turn runs one more turn, and never two at a time', async (t) => {
  const { loop, turns, nextTurn, endTurn } = createManualLoop(t)
  loop.start()
  for (let i = 0; i < 5; i++) loop.wake()
  assert.equal(turns(), 1)
  const second = nextTurn()
  endTurn()
  await second
  endTurn()
  await new Promise(setImmediate)
  assert.equal(turns(), 2)
})

test('stop() waits for the current turn, and no other turn follows', async (t) => {
  const { loop, turns, endTurn } = createManualLoop(t, 0)
  loop.start()
  let stopped = false
  const stop = loop.stop().then(() => {
    stopped = true
  })
  await new Promise(setImmediate)
  assert.equal(stopped, false)
  endTurn()
  await stop
  loop.wake()
  await new Promise(setImmediate)
  assert.equal(turns(), 1)
})

test('a turn that throws is reported and retried after the backoff, however often the loop is woken', async () => {
  let turns = 0
  const loop = createLoop('failing', () => {
    if (++turns === 1) throw new Error('no luck')
    return Number.POSITIVE_INFINITY
  })
  const failed = event('loop.failed', ({ loop: name }) => name === 'failing')
  loop.start()
  assert.deepEqual(await failed, { loop: 'failing', error: 'no luck', inMs: 100, failures: 1, unavailable: false })
  loop.wake()
  assert.equal(turns, 1)
  while (turns < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  await loop.stop()
})
