import assert from 'node:assert/strict'
import test from 'node:test'
import { createSlices } from '../../../src/providers/web-push/slices.ts'

test('work is done in order, each piece once, and its result or error is its own', async () => {
  const inSlices = createSlices(1)
  const done: number[] = []
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      inSlices(() => {
        done.push(i)
        if (i === 5) throw new Error('five')
        return i
      }),
    ),
  )
  assert.deepEqual(
    done,
    Array.from({ length: 20 }, (_, i) => i),
  )
  assert.equal(results[4]?.status, 'fulfilled')
  assert.equal(results[5]?.status, 'rejected')
  assert.equal(await inSlices(() => 'afterwards'), 'afterwards')
})

test('other things have their turn between pieces that are too long together', async () => {
  const inSlices = createSlices(2)
  let others = 0
  const busy = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until; );
  }
  const other = (): void => {
    others++
    next = setImmediate(other)
  }
  let next = setImmediate(other)
  await Promise.all(Array.from({ length: 10 }, () => inSlices(() => busy(3))))
  clearImmediate(next)
  assert.ok(others >= 9, `${others}`)
})
