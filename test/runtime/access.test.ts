import assert from 'node:assert/strict'
import test from 'node:test'
import { keyring } from '../../src/runtime/access.ts'

const old = { name: 'old', key: 'key-of-last-year' }
const fresh = { name: 'fresh', key: 'key-of-this-year' }

test('each of two live keys is found, anything else is not', () => {
  const whose = keyring([old, fresh])
  assert.equal(whose('key-of-last-year'), old)
  assert.equal(whose('key-of-this-year'), fresh)
  for (const wrong of [undefined, '', 'key-of-this-yea', 'key-of-this-year ', 'KEY-OF-THIS-YEAR', '\u0000']) {
    assert.equal(whose(wrong), undefined, JSON.stringify(wrong))
  }
})

test('an empty ring opens for nobody', () => {
  assert.equal(keyring([])(''), undefined)
})
