import assert from 'node:assert/strict'
import test from 'node:test'
import { firstUuidv7, timeOfUuidv7, uuidv7 } from '../../src/runtime/ids.ts'

test('identifiers are UUIDv7, all different, and sort in the order in which they were made', () => {
  const made = Array.from({ length: 20_000 }, () => uuidv7())
  for (const id of made) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(new Set(made).size, made.length)
  assert.deepEqual(made.toSorted(), made)
})

test('more than 4,096 in a millisecond, and a clock that goes back, keep the order', () => {
  const now = Date.now() + 60_000
  const made = Array.from({ length: 10_000 }, () => uuidv7(now))
  made.push(uuidv7(now - 5_000))
  assert.deepEqual(made.toSorted(), made)
  assert.equal(new Set(made).size, made.length)
})

test('the first identifier of a time sorts before all that are made then, and after all made earlier', () => {
  const later = Date.now() + 120_000
  const earlier = uuidv7(later - 1)
  assert.ok(earlier < firstUuidv7(later))
  assert.ok(firstUuidv7(later) < uuidv7(later))
})

test('an identifier says when it was made; what is none does not', () => {
  const later = Date.now() + 240_000
  assert.equal(timeOfUuidv7(uuidv7(later)), later)
  assert.equal(timeOfUuidv7('ref 1 1'), undefined)
})
