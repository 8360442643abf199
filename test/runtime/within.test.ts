import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAbortableWait, within } from '../../src/base/runtime/within.ts'

test('within() returns the result, or throws after the time limit', async () => {
  assert.equal(await within(10_000, Promise.resolve(1)), 1)
  await assert.rejects(within(1, new Promise(() => {})), /no answer within 1 ms/)
})

test('an abortable wait awaits one promise after another, and abort() ends the current wait and all later ones', async () => {
  const wait = createAbortableWait()
  assert.equal(await wait.for(Promise.resolve(1)), 1)
  await assert.rejects(wait.for(Promise.reject(new Error('its own'))), /its own/)
  const never = wait.for(new Promise(() => {}))
  wait.abort(new Error('the client left'))
  wait.abort(new Error('later'))
  await assert.rejects(never, /the client left/)
  await assert.rejects(wait.for(new Promise(() => {})), /the client left/)
})

test('an abortable wait keeps no result in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const wait = createAbortableWait()
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => new WeakRef(await wait.for(Promise.resolve({})))),
  )
  await wait.for(Promise.resolve())
  await nextTurn()
  collect()
  assert.deepEqual(
    answers.map((answer) => answer.deref()),
    Array(10).fill(undefined),
  )
})
