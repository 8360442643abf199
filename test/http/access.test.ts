import assert from 'node:assert/strict'
import test from 'node:test'
import { createKeyFinder } from '../../src/base/http/access.ts'

const old = { name: 'old', key: 'key-of-last-year' }
const fresh = { name: 'fresh', key: 'key-of-this-year' }

test('each of two valid keys is found, and no other text', () => {
  const findKey = createKeyFinder([old, fresh])
  assert.equal(findKey('key-of-last-year'), old)
  assert.equal(findKey('key-of-this-year'), fresh)
  for (const wrong of [undefined, '', 'key-of-this-yea', 'key-of-this-year ', 'KEY-OF-THIS-YEAR', 'x'.repeat(600)]) {
    assert.equal(findKey(wrong), undefined, JSON.stringify(wrong))
  }
})

test('a key that is not valid in a header is refused at the start', () => {
  assert.throws(() => createKeyFinder([{ name: 'empty', key: '' }]), /the key empty must have 1 to 512 bytes/)
  assert.throws(() => createKeyFinder([{ name: 'long', key: 'ü'.repeat(300) }]), /the key long/)
})

test('without keys, no key is found', () => {
  assert.equal(createKeyFinder([])(''), undefined)
})
