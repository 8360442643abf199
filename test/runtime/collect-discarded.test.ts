import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectDiscarded } from '../../src/runtime/collect-discarded.ts'

const megabytes = (): number => process.memoryUsage().arrayBuffers / 1024 / 1024

test('the discarded buffers of a list do not accumulate', async () => {
  for (let i = 0; i < 24 * 16; i++) {
    new Uint8Array(64 * 1024).fill(1)
    await nextTurn()
  }
  collectDiscarded(24 * 1024 * 1024)
  await nextTurn()
  collectDiscarded(24 * 1024 * 1024) // waits for the concurrent part of the first collection
  assert.ok(megabytes() < 4, `${megabytes()} of 24 MB are left`)
  assert.ok(!('gc' in globalThis), 'gc is not exposed globally')
})
