import assert from 'node:assert/strict'
import test from 'node:test'
import { createTransientMap } from '../../src/runtime/transient-map.ts'

test('a passing map says of each key what a Map would say, however many come and go', () => {
  const passing = createTransientMap<string, { n: number }>()
  const plain = new Map<string, { n: number }>()
  // Grows to 5,000, shrinks to nothing, and keeps a few that stay all the time.
  for (let n = 0; n < 50_000; n++) {
    const key = String(n % 7_919)
    const value = { n }
    if (plain.has(key)) {
      plain.delete(key)
      passing.remove(key)
    } else if (n < 20_000 || n % 3 === 0) {
      plain.set(key, value)
      passing.add(key, value)
    }
    assert.equal(passing.size, plain.size)
    const asked = String((n * 31) % 7_919)
    assert.equal(passing.get(asked), plain.get(asked))
  }
  for (const key of [...plain.keys()]) {
    assert.equal(passing.get(key), plain.get(key))
    passing.remove(key)
  }
  assert.equal(passing.size, 0)
  assert.equal(passing.get('1'), undefined)
})
