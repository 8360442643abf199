import assert from 'node:assert/strict'
import test from 'node:test'
import { provenDead, weigh } from '../../src/delivery/token-proof.ts'
import { accepted, gone, mismatch, wrongKey } from '../support/push-services.ts'

test('a mismatch before the first accepted send speaks against the credential, and after it against the device', () => {
  const before = weigh(mismatch, false)
  assert.partialDeepStrictEqual(before, { category: 'fatal', reason: 'misconfigured', blame: 'provider' })
  assert.equal(before.token, undefined)
  assert.deepEqual(weigh(mismatch, true), mismatch)
})

test('a wrong key that only one subscription complains of is that subscription’s own trouble', () => {
  const complaint = { ...wrongKey, token: 'mismatch' } as const
  assert.partialDeepStrictEqual(weigh(complaint, false), { category: 'fatal', reason: 'misconfigured' })
  assert.partialDeepStrictEqual(weigh(complaint, true), { category: 'failed', reason: 'rejected', token: 'mismatch' })
  assert.equal('blame' in weigh(complaint, true), false)
})

test('what says nothing of a token stays as it is', () => {
  for (const answer of [accepted, gone, wrongKey])
    for (const proven of [false, true]) assert.equal(weigh(answer, proven), answer)
})

test('a device is dead when its provider says so, unless its link is younger than that, or of an unreadable time', () => {
  const linked = '2026-01-01T00:00:00.000001Z'
  const at = Date.parse('2026-01-01T00:00:00Z')
  assert.equal(provenDead(gone, linked), true)
  assert.equal(provenDead(mismatch, linked), true)
  assert.equal(provenDead({ ...gone, goneSince: at + 1 }, linked), true)
  assert.equal(provenDead({ ...gone, goneSince: at }, linked), false, 'it was linked a microsecond later')
  assert.equal(provenDead({ ...gone, goneSince: at }, 'yesterday'), false)
  assert.equal(provenDead(accepted, linked), false)
  assert.equal(provenDead(wrongKey, linked), false)
  assert.equal(provenDead({ ...wrongKey, token: 'mismatch' }, linked), false)
})

test('a link’s time without a zone is UTC, wherever the machine stands', (t) => {
  const { TZ } = process.env
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  const noon = Date.parse('2026-01-01T12:00:00Z')
  for (process.env.TZ of ['America/New_York', 'Asia/Tokyo', 'UTC'])
    for (const written of ['2026-01-01T12:00:00.25', '2026-01-01T12:00:00.25Z', '2026-01-01T14:00:00.25+02:00']) {
      assert.equal(provenDead({ ...gone, goneSince: noon }, written), false, `${written} in ${process.env.TZ}`)
      assert.equal(provenDead({ ...gone, goneSince: noon + 1_000 }, written), true, `${written} in ${process.env.TZ}`)
    }
})
