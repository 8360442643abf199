import assert from 'node:assert/strict'
import test from 'node:test'
import { createRateLimit } from '../../src/base/queue/lane/rate-limit.ts'
import { randomFrom } from '../contract/json-maker.ts'

interface Call {
  readonly at: number
  readonly items: number
}

/** The most items within any second. */
function busiestSecond(calls: readonly Call[]): number {
  const sums = calls.map(({ at: from }) =>
    calls.filter(({ at }) => at >= from && at < from + 1_000).reduce((sum, { items }) => sum + items, 0),
  )
  return Math.max(0, ...sums)
}

/** Makes calls of at most `max` items as early as the limit allows, with timers that are late. */
function drain(perSecond: number, { from, to, max = 1, wants = () => max, lateMs = 0 }: DrainOptions): Call[] {
  const rate = createRateLimit(perSecond, from)
  const calls: Call[] = []
  for (let now = from; now < to; ) {
    const waitMs = rate.waitMs(now)
    if (waitMs > 0) {
      now += Math.max(1, Math.ceil(waitMs)) + lateMs
      continue
    }
    const items = Math.min(wants(), max, rate.room(now))
    rate.recordCall(items, now)
    calls.push({ at: now, items })
  }
  return calls
}

interface DrainOptions {
  readonly from: number
  readonly to: number
  readonly max?: number
  readonly wants?: () => number
  readonly lateMs?: number
}

const sum = (calls: readonly Call[]): number => calls.reduce((total, { items }) => total + items, 0)

test('calls are spread evenly, and an idle lane accumulates no credit', () => {
  const rate = createRateLimit(100, 0)
  assert.equal(rate.waitMs(10_000), 0)
  assert.equal(rate.room(10_000), 100)
  rate.recordCall(50, 10_000)
  assert.equal(rate.waitMs(10_000), 450)
  assert.equal(rate.room(10_450), 50)
  rate.recordCall(1, 10_450)
  assert.equal(rate.waitMs(10_455), 5)
})

test('a lane without a rate never waits', () => {
  const rate = createRateLimit(undefined, 0)
  rate.recordCall(1_000_000, 0)
  assert.equal(rate.waitMs(0), 0)
  assert.equal(rate.room(0), Number.POSITIVE_INFINITY)
})

test('no second exceeds the rate, whatever the rate, the sizes of the calls and the changes of owner (seeded)', () => {
  const random = randomFrom(7)
  const upTo = (most: number): number => 1 + Math.floor(random() * most)
  for (let run = 0; run < 300; run++) {
    const [perSecond, max, lateMs] = [upTo(1_500), upTo(700), upTo(30)]
    const calls: Call[] = []
    let from = 1_000_000
    for (const ms of [upTo(3_000), upTo(300), upTo(3_000), 2_500]) {
      calls.push(...drain(perSecond, { from, to: from + ms, max, wants: () => upTo(max), lateMs }))
      from += ms
    }
    const busiest = busiestSecond(calls)
    assert.ok(busiest <= perSecond, `run ${run}: ${busiest} items in a second with a rate of ${perSecond}`)
  }
})

test('a busy lane reaches its rate: with single messages, late timers, and a rate below the batch maximum', () => {
  for (const [perSecond, options] of [
    [10, { max: 500 }],
    [100, { max: 60 }],
    [300, { max: 1, lateMs: 2 }],
    [10_000, { max: 1, lateMs: 3 }],
    [10_000, { max: 500, lateMs: 3 }],
  ] as const) {
    const count = sum(drain(perSecond, { from: 0, to: 11_000, ...options }))
    assert.ok(count >= perSecond * 9.7 && count <= perSecond * 10, `${count} of ${perSecond * 10}`)
  }
})

test('a part of a split batch waits until it fits into the second as a whole', () => {
  const rate = createRateLimit(100, 0)
  rate.recordCall(60, 5_000)
  assert.equal(rate.waitMs(5_600, 40), 0)
  assert.equal(rate.waitMs(5_600, 41), 400)
  assert.equal(rate.waitMs(5_600, 1_000), 400, 'a call larger than the rate waits for an empty second')
})
