import assert from 'node:assert/strict'
import test from 'node:test'
import { firstUuidv7 } from '../../src/base/runtime/ids.ts'
import { expiryOf } from '../../src/subjects/providers/expiry.ts'

test('row 56: a message expires after its lifetime, or at an earlier time that it names', () => {
  const firstAttempt = Date.parse('2026-11-23T12:00:00Z')
  const ref = firstUuidv7(firstAttempt)
  const end = firstAttempt + 3_600_000
  assert.equal(expiryOf(ref, {}, 3_600_000), end)
  assert.equal(expiryOf(ref, { expiresAt: firstAttempt + 60_000 }, 3_600_000), firstAttempt + 60_000)
  assert.equal(expiryOf(ref, { expiresAt: end + 60_000 }, 3_600_000), end)
})
