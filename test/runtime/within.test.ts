import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAbortableWait, within } from '../../src/runtime/within.ts'

test('within: the answer, or that there was none in time', async () => {
  assert.equal(await within(10_000, Promise.resolve(1)), 1)
  await assert.rejects(within(1, new Promise(() => {})), /no answer within 1 ms/)
})

test('waiting: one thing after the other, and what was given up ends the wait that is on and all later ones', async () => {
  const waiting = createAbortableWait()
  assert.equal(await waiting.for(Promise.resolve(1)), 1)
  await assert.rejects(waiting.for(Promise.reject(new Error('its own'))), /its own/)
  const never = waiting.for(new Promise(() => {}))
  waiting.abort(new Error('the client left'))
  waiting.abort(new Error('later'))
  await assert.rejects(never, /the client left/)
  await assert.rejects(waiting.for(new Promise(() => {})), /the client left/)
})

test('waiting: an answer is not kept once it was given', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const waiting = createAbortableWait()
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => new WeakRef(await waiting.for(Promise.resolve({})))),
  )
  await waiting.for(Promise.resolve())
  await turn()
  collect()
  assert.deepEqual(
    answers.map((answer) => answer.deref()),
    Array(10).fill(undefined),
  )
})
