import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { collectDiscarded } from '../../src/runtime/collect-discarded.ts'

const megabytes = (): number => process.memoryUsage().arrayBuffers / 1024 / 1024

test('discarded: the buffers of a list do not gather', async () => {
  for (let i = 0; i < 24 * 16; i++) {
    new Uint8Array(64 * 1024).fill(1)
    await turn()
  }
  collectDiscarded(24 * 1024 * 1024)
  await turn()
  collectDiscarded(24 * 1024 * 1024) // finishes what the first began beside us
  assert.ok(megabytes() < 4, `of 24 MB ${megabytes()} are left`)
  assert.ok(!('gc' in globalThis), 'nobody else is given the collector')
})
