import assert from 'node:assert/strict'
import test from 'node:test'
import { createHealth } from '../../src/queue/health.ts'

const create = () => createHealth({ firstMs: 1_000, mostMs: 8_000 }, () => 1)
const batch = { probe: false, items: 100, batch: true }
const probe = { probe: true, items: 1, batch: false }

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
  assert.equal(health.away(batch, 8_000), 1_000)
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

test('a provider works otherwise if a call did within a minute', () => {
  const health = create()
  assert.equal(health.worksOtherwise(0), false)
  health.worked(batch, 0)
  assert.equal(health.worksOtherwise(60_000), true)
  assert.equal(health.worksOtherwise(60_001), false)
})

test('a provider whose probes work and whose batches do not is relapsing; one that is away is not', () => {
  const health = create()
  let now = 0
  for (let i = 0; i < 4; i++) {
    assert.equal(health.relapsing(now), false)
    health.away(batch, now)
    health.probe()
    now += 1_000
    health.worked(probe, now)
  }
  assert.equal(health.relapsing(now), true)
  assert.equal(health.relapsing(now + 61_000), false)
  health.worked(batch, now)
  assert.equal(health.relapsing(now), false)
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
  assert.equal(health.away({ probe: false, items: 1 }, 0), 0)
  assert.notEqual(health.hold, undefined)
  assert.equal(health.away({ probe: false, items: 1 }, 0), undefined)
})
