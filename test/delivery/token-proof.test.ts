import assert from 'node:assert/strict'
import test from 'node:test'
import { isProvenDead, resolveEvidence } from '../../src/subjects/delivery/token-proof.ts'
import { accepted, gone, mismatch, wrongKey } from '../support/push-services.ts'

const unproven = { counterpart: false, service: false }
const everywhere = { counterpart: true, service: true }

test('an accepted send at one counterpart is no evidence against the tokens of another', () => {
  const atAnother = { counterpart: false, service: true }
  const ofApple = { ...mismatch, concerns: 'counterpart' } as const
  assert.partialDeepStrictEqual(resolveEvidence(ofApple, atAnother), {
    category: 'fatal',
    reason: 'misconfigured',
    concerns: 'counterpart',
  })
  assert.equal(resolveEvidence(ofApple, everywhere), ofApple)
})

test('a wrong configuration of some recipients is blamed on the counterpart until it accepted a send, then on the message', () => {
  const refused = { ...wrongKey, concerns: 'counterpart' } as const
  assert.equal(resolveEvidence(refused, { counterpart: false, service: true }), refused)
  assert.deepEqual(resolveEvidence(refused, everywhere), { ...refused, blame: 'message' })
})

test('a mismatch is evidence against the credential before its first accepted send, and against the device afterwards', () => {
  const before = resolveEvidence(mismatch, unproven)
  assert.partialDeepStrictEqual(before, { category: 'fatal', reason: 'misconfigured', blame: 'provider' })
  assert.equal(before.token, undefined)
  assert.deepEqual(resolveEvidence(mismatch, everywhere), mismatch)
})

test('a proven credential that one subscription refuses is a mismatch of that subscription', () => {
  const refused = { ...wrongKey, token: 'mismatch' } as const
  assert.partialDeepStrictEqual(resolveEvidence(refused, unproven), { category: 'fatal', reason: 'misconfigured' })
  assert.partialDeepStrictEqual(resolveEvidence(refused, everywhere), {
    category: 'failed',
    reason: 'rejected',
    token: 'mismatch',
  })
  assert.equal('blame' in resolveEvidence(refused, everywhere), false)
})

test('an answer without a mismatch is returned unchanged', () => {
  for (const answer of [accepted, gone, wrongKey])
    for (const proven of [unproven, everywhere]) assert.equal(resolveEvidence(answer, proven), answer)
})

test('a device is dead if its push service says so, unless its link is later or has an unreadable time', () => {
  const linked = '2026-01-01T00:00:00.000001Z'
  const at = Date.parse('2026-01-01T00:00:00Z')
  assert.equal(isProvenDead(gone, linked), true)
  assert.equal(isProvenDead(mismatch, linked), true)
  assert.equal(isProvenDead({ ...gone, goneSince: at + 1 }, linked), true)
  assert.equal(isProvenDead({ ...gone, goneSince: at }, linked), false, 'it was linked a microsecond later')
  assert.equal(isProvenDead({ ...gone, goneSince: at }, 'yesterday'), false)
  assert.equal(isProvenDead(accepted, linked), false)
  assert.equal(isProvenDead(wrongKey, linked), false)
  assert.equal(isProvenDead({ ...wrongKey, token: 'mismatch' }, linked), false)
})

test('the time of a link without a zone is UTC, whatever the zone of the machine', (t) => {
  const { TZ } = process.env
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  const noon = Date.parse('2026-01-01T12:00:00Z')
  for (process.env.TZ of ['America/New_York', 'Asia/Tokyo', 'UTC'])
    for (const written of ['2026-01-01T12:00:00.25', '2026-01-01T12:00:00.25Z', '2026-01-01T14:00:00.25+02:00']) {
      assert.equal(isProvenDead({ ...gone, goneSince: noon }, written), false, `${written} in ${process.env.TZ}`)
      assert.equal(isProvenDead({ ...gone, goneSince: noon + 1_000 }, written), true, `${written} in ${process.env.TZ}`)
    }
})
