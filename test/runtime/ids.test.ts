import assert from 'node:assert/strict'
import test from 'node:test'
import { firstUuidv7, timeOfUuidv7, uuidv7 } from '../../src/base/runtime/ids.ts'

test('identifiers are UUIDv7, unique, and sort in creation order', () => {
  const ids = Array.from({ length: 20_000 }, () => uuidv7())
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(ids.toSorted(), ids)
})

test('more than 4,096 in a millisecond, and a clock that is set back, keep the order', () => {
  const now = Date.now() + 60_000
  const ids = Array.from({ length: 10_000 }, () => uuidv7(now))
  ids.push(uuidv7(now - 5_000))
  assert.deepEqual(ids.toSorted(), ids)
  assert.equal(new Set(ids).size, ids.length)
})

test('the first identifier of a millisecond sorts before all of that millisecond, and after all earlier ones', () => {
  const later = Date.now() + 120_000
  const earlier = uuidv7(later - 1)
  assert.ok(earlier < firstUuidv7(later))
  assert.ok(firstUuidv7(later) < uuidv7(later))
})

test('a UUIDv7 contains its creation time; other texts have none', () => {
  const later = Date.now() + 240_000
  assert.equal(timeOfUuidv7(uuidv7(later)), later)
  assert.equal(timeOfUuidv7('ref 1 1'), undefined)
})
