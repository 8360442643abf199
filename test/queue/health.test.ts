import assert from 'node:assert/strict'
import test from 'node:test'
import { createHealth } from '../../src/queue/health.ts'

const create = () => createHealth({ firstMs: 1_000, mostMs: 8_000 }, () => 1)
const batch = { probe: false, batch: true, delivered: true }
const probe = { probe: true, batch: false, delivered: true }

test('a provider that is away holds the lane for longer and longer, until a probe works', () => {
  const health = create()
  assert.equal(health.away(batch, 0), 1_000)
  assert.deepEqual(health.hold, { since: 0, until: 1_000, probing: false })
  health.probe()
  assert.equal(health.hold?.probing, true)
  assert.equal(health.away(probe, 1_000), 2_000)
  health.probe()
  assert.equal(health.away(probe, 3_000), 4_000)
  health.probe()
  assert.equal(health.worked(probe, 7_000), 7_000)
  assert.equal(health.hold, undefined)
  // No batch got through yet: it is still the same outage.
  assert.equal(health.onTrial, true)
  assert.equal(health.away(batch, 8_000), 8_000)
  health.probe()
  health.worked(probe, 16_000)
  health.worked(batch, 16_000)
  assert.equal(health.onTrial, false)
  assert.equal(health.away(batch, 17_000), 1_000)
})

test('calls from before the hold neither end it nor lengthen it', () => {
  const health = create()
  health.away(batch, 0)
  assert.equal(health.away(batch, 10), undefined)
  assert.equal(health.worked(batch, 20), undefined)
  assert.deepEqual(health.hold, { since: 0, until: 1_000, probing: false })
})

test('Retry-After is honoured', () => {
  const health = create()
  assert.equal(health.away(batch, 0, 30_000), 30_000)
})

test('the longest Retry-After wins, also while the lane is held already', () => {
  const health = create()
  assert.equal(health.away(batch, 0, 1_000), 1_000)
  assert.equal(health.away(batch, 50, 5_000), 5_000)
  assert.equal(health.hold?.until, 5_050)
  assert.equal(health.away(batch, 60, 2_000), undefined)
  assert.equal(health.hold?.until, 5_050)
})

test('the longest Retry-After wins over a probe that worked meanwhile', () => {
  const health = create()
  health.away(batch, 0, 1_000)
  health.probe()
  health.away(batch, 1_010, 5_000)
  assert.equal(health.worked(probe, 1_020), undefined)
  assert.deepEqual(health.hold, { since: 0, until: 6_010, probing: false })
  health.probe()
  assert.equal(health.worked(probe, 6_010), 6_010)
})

test('no Retry-After parks a lane for longer than ten minutes', () => {
  assert.equal(create().away(batch, 0, 86_400_000), 600_000)
})

test('a provider works otherwise if a call did within a minute', () => {
  const health = create()
  assert.equal(health.worksOtherwise(0), false)
  health.worked(batch, 0)
  assert.equal(health.worksOtherwise(60_000), true)
  assert.equal(health.worksOtherwise(60_001), false)
})

test('only a call that delivered shows that others get through', () => {
  const health = create()
  health.worked({ ...batch, delivered: false }, 0)
  assert.equal(health.wins, 0)
  health.worked(batch, 0)
  assert.equal(health.wins, 1)
  health.away(batch, 0)
  // From before the hold.
  health.worked(batch, 1)
  assert.equal(health.wins, 1)
})

test('refusals are counted in a row', () => {
  const health = create()
  assert.deepEqual(
    [true, true, false, true].map((refusal) => health.refused(refusal)),
    [1, 2, 0, 1],
  )
})

test('a hold of no time at all, as jitter has it now and then, is a hold all the same', () => {
  const health = createHealth({ firstMs: 20, mostMs: 50 }, () => 0)
  assert.equal(health.away({ probe: false }, 0), 0)
  assert.notEqual(health.hold, undefined)
  assert.equal(health.away({ probe: false }, 0), undefined)
})
