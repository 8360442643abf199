import assert from 'node:assert/strict'
import test from 'node:test'
import { createProviderHealth } from '../../src/base/queue/lane/provider-health.ts'

const create = () => createProviderHealth({ firstMs: 1_000, mostMs: 8_000 }, () => 1)
const batch = { probe: false, batch: true, delivered: true }
const probe = { probe: true, batch: false, delivered: true }

test('an unavailable provider holds the lane for longer and longer, until a probe succeeds', () => {
  const health = create()
  assert.equal(health.recordOutage(batch, 0), 1_000)
  assert.deepEqual(health.hold, { since: 0, until: 1_000, probing: false })
  health.startProbe()
  assert.equal(health.hold?.probing, true)
  assert.equal(health.recordOutage(probe, 1_000), 2_000)
  health.startProbe()
  assert.equal(health.recordOutage(probe, 3_000), 4_000)
  health.startProbe()
  assert.equal(health.recordAnswer(probe, 7_000), 7_000)
  assert.equal(health.hold, undefined)
  // No batch succeeded yet: it is still the same outage.
  assert.equal(health.recovering, true)
  assert.equal(health.recordOutage(batch, 8_000), 8_000)
  health.startProbe()
  health.recordAnswer(probe, 16_000)
  health.recordAnswer(batch, 16_000)
  assert.equal(health.recovering, false)
  assert.equal(health.recordOutage(batch, 17_000), 1_000)
})

test('calls that started before the hold neither end nor lengthen it', () => {
  const health = create()
  health.recordOutage(batch, 0)
  assert.equal(health.recordOutage(batch, 10), undefined)
  assert.equal(health.recordAnswer(batch, 20), undefined)
  assert.deepEqual(health.hold, { since: 0, until: 1_000, probing: false })
})

test('Retry-After is honoured', () => {
  const health = create()
  assert.equal(health.recordOutage(batch, 0, 30_000), 30_000)
})

test('the longest Retry-After applies, even if the lane is already held', () => {
  const health = create()
  assert.equal(health.recordOutage(batch, 0, 1_000), 1_000)
  assert.equal(health.recordOutage(batch, 50, 5_000), 5_000)
  assert.equal(health.hold?.until, 5_050)
  assert.equal(health.recordOutage(batch, 60, 2_000), undefined)
  assert.equal(health.hold?.until, 5_050)
})

test('a successful probe does not shorten the longest Retry-After', () => {
  const health = create()
  health.recordOutage(batch, 0, 1_000)
  health.startProbe()
  health.recordOutage(batch, 1_010, 5_000)
  assert.equal(health.recordAnswer(probe, 1_020), undefined)
  assert.deepEqual(health.hold, { since: 0, until: 6_010, probing: false })
  health.startProbe()
  assert.equal(health.recordAnswer(probe, 6_010), 6_010)
})

test('no Retry-After holds a lane for longer than ten minutes', () => {
  assert.equal(create().recordOutage(batch, 0, 86_400_000), 600_000)
})

test('a provider worked recently if it answered within a minute', () => {
  const health = create()
  assert.equal(health.workedRecently(0), false)
  health.recordAnswer(batch, 0)
  assert.equal(health.workedRecently(60_000), true)
  assert.equal(health.workedRecently(60_001), false)
})

test('only a call that delivered a message is counted as a delivering call', () => {
  const health = create()
  health.recordAnswer({ ...batch, delivered: false }, 0)
  assert.equal(health.deliveringCalls, 0)
  health.recordAnswer(batch, 0)
  assert.equal(health.deliveringCalls, 1)
  health.recordOutage(batch, 0)
  // The call started before the hold.
  health.recordAnswer(batch, 1)
  assert.equal(health.deliveringCalls, 1)
})

test('refusals in a row are counted', () => {
  const health = create()
  assert.deepEqual(
    [true, true, false, true].map((refusal) => health.recordFinal(refusal)),
    [1, 2, 0, 1],
  )
})

test('a hold of 0 ms, which jitter may cause, is a hold', () => {
  const health = createProviderHealth({ firstMs: 20, mostMs: 50 }, () => 0)
  assert.equal(health.recordOutage({ probe: false }, 0), 0)
  assert.notEqual(health.hold, undefined)
  assert.equal(health.recordOutage({ probe: false }, 0), undefined)
})

test('without a connection the backoff is at most 30 seconds, because a try costs the operator nothing', () => {
  const health = createProviderHealth({ firstMs: 60_000, mostMs: 300_000 }, () => 1)
  assert.equal(health.recordOutage({ ...batch, unconnected: true }, 0), 30_000)
  assert.equal(health.recordOutage({ ...probe, unconnected: true }, 30_000), 30_000)
  assert.equal(health.recordOutage(probe, 60_000), 240_000)
})
