import assert from 'node:assert/strict'
import test from 'node:test'
import { type Measure, median, perCpuSecond, perSecond, ratios } from '../../bench/harness/ratios.ts'

const measure = (messages: number, cpuUs: number): Measure => ({ messages, seconds: 2, cpuUs })

test('each round is compared with the baseline round next to it, and the result is the median of the ratios', () => {
  const subject = [measure(50, 100), measure(80, 160), measure(45, 90)]
  const baseline = [measure(100, 100), measure(100, 100), measure(50, 50)]
  assert.deepEqual(ratios(subject, baseline, perSecond), { ratio: 0.8, min: 0.5, max: 0.9 })
  assert.equal(ratios(subject, baseline, perCpuSecond).ratio, 0.5)
})

test('the median of an even count lies between the two in the middle', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([3]), 3)
})
