import assert from 'node:assert/strict'
import test from 'node:test'
import { createTransientMap } from '../../src/base/runtime/transient-map.ts'

test('a transient map has the same entries as a Map, however many are added and removed', () => {
  const transient = createTransientMap<string, { n: number }>()
  const plain = new Map<string, { n: number }>()
  // Grows to 5,000 entries, shrinks to none, and keeps a few entries all the time.
  for (let n = 0; n < 50_000; n++) {
    const key = String(n % 7_919)
    const value = { n }
    if (plain.has(key)) {
      plain.delete(key)
      transient.remove(key)
    } else if (n < 20_000 || n % 3 === 0) {
      plain.set(key, value)
      transient.add(key, value)
    }
    assert.equal(transient.size, plain.size)
    const asked = String((n * 31) % 7_919)
    assert.equal(transient.get(asked), plain.get(asked))
  }
  for (const key of [...plain.keys()]) {
    assert.equal(transient.get(key), plain.get(key))
    transient.remove(key)
  }
  assert.equal(transient.size, 0)
  assert.equal(transient.get('1'), undefined)
})
