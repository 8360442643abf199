import assert from 'node:assert/strict'
import test from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { collectBytes } from '../../src/base/runtime/collect-bytes.ts'

test('chunks of all sizes are joined in order, also several times', () => {
  const sizes = [1, 1, 4_095, 3, 4_096, 1, 70_000, 5, ...Array<number>(100).fill(999), 0, 2]
  let next = 0
  const chunks = sizes.map((size) => Buffer.from(Array.from({ length: size }, () => next++ % 251)))
  const body = collectBytes()
  assert.equal(body.join().length, 0)
  for (const [i, chunk] of chunks.entries()) {
    body.add(chunk)
    if (i % 7 === 0) assert.deepEqual(body.join(), Buffer.concat(chunks.slice(0, i + 1)))
  }
  assert.deepEqual(body.join(), Buffer.concat(chunks))
  assert.equal(body.bytes, next)
})

test('a body in one chunk is not copied, and of small chunks only the bytes are kept', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const whole = collectBytes()
  const chunk = Buffer.from('a short body')
  whole.add(chunk)
  assert.equal(whole.join(), chunk)

  const body = collectBytes()
  const chunks = Array.from({ length: 10_000 }, (_, i) => {
    const one = Buffer.from([i % 251])
    body.add(one)
    return new WeakRef(one)
  })
  // A WeakRef keeps its target until the end of the turn in which it was created.
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    collect()
    const kept = chunks.filter((each) => each.deref() !== undefined).length
    assert.ok(kept <= 1, `${kept} of 10,000 chunks are kept`)
    assert.equal(body.join().length, 10_000)
  })
})
