import assert from 'node:assert/strict'
import test from 'node:test'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { collapseId } from '../../src/subjects/providers/collapse.ts'

test('a collapse identity is the same on every attempt, unique to its message, and valid for every service', () => {
  const ref = uuidv7()
  assert.equal(collapseId(ref, 64), ref)
  assert.equal(collapseId(ref, 32), ref.replaceAll('-', ''))
  const refs = ['short', 'with space', 'ü', 'x'.repeat(33), 'x'.repeat(34), 'x'.repeat(65), '', '-']
  for (const most of [32, 64]) {
    const ids = refs.map((each) => collapseId(each, most))
    for (const id of ids) assert.match(id, new RegExp(`^[A-Za-z0-9_-]{1,${most}}$`))
    assert.equal(new Set(ids).size, refs.length)
    assert.deepEqual(
      refs.map((each) => collapseId(each, most)),
      ids,
    )
  }
})
