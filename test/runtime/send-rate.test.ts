import assert from 'node:assert/strict'
import test from 'node:test'
import { createSendRate, type SendRate } from '../../src/base/runtime/send-rate.ts'

/** Sends as early as the rate allows. @returns the number of sends in each second */
function sendAll(rate: SendRate, from: number, seconds: number): number[] {
  const counts = new Array<number>(seconds).fill(0)
  for (let now = from; now < from + seconds * 1_000; now++) {
    // A service without a limit gets 2,000 a second.
    for (let sends = 0; sends < 2 && rate.waitMs(now) === 0; sends++) {
      rate.recordSend(now)
      const second = Math.floor((now - from) / 1_000)
      counts[second] = (counts[second] ?? 0) + 1
    }
  }
  return counts
}

const minute = 60_000

test('sends are spread evenly, with a burst of a tenth of a second', () => {
  const rate = createSendRate(100)
  const [first, ...later] = sendAll(rate, 0, 5)
  assert.ok((first ?? 0) >= 100 && (first ?? 0) <= 111, `${first}`)
  for (const count of later) assert.ok(Math.abs(count - 100) <= 1, `${count}`)
  assert.equal(rate.waitMs(5_000, 200) - rate.waitMs(5_000), 2_000, '200 sends that wait take two seconds')
})

test('a rate below one burst is kept too', () => {
  assert.deepEqual(sendAll(createSendRate(2), 0, 4).slice(1), [2, 2, 2])
})

test('a service without a rate never waits, until it refuses a send for its quota', () => {
  const rate = createSendRate()
  assert.deepEqual(sendAll(rate, 0, 2), [2_000, 2_000])
  assert.equal(rate.slowDown(1_990, 2_000), 1_000)
  const [, second] = sendAll(rate, 2_000, 2)
  assert.ok(Math.abs((second ?? 0) - 1_000) <= 10, `${second}`)
})

test('refusals of sends that started before the halving are the same refusal; a later one halves again', () => {
  const rate = createSendRate(500)
  sendAll(rate, 0, 2)
  assert.equal(rate.slowDown(1_900, 2_000), 250)
  assert.equal(rate.slowDown(2_000, 2_050), undefined, 'a send of the same millisecond started before')
  assert.equal(Math.round(rate.slowDown(2_001, 2_100) ?? 0), 125)
})

test('the rate recovers evenly within five minutes after the rest, then the setting applies again', () => {
  const rate = createSendRate(400)
  sendAll(rate, 0, 2)
  assert.equal(rate.slowDown(1_900, 2_000, minute), 200)
  const end = 2_000 + minute
  assert.ok(Math.abs((sendAll(rate, end, 2)[1] ?? 0) - 200) <= 3)
  assert.ok(Math.abs((sendAll(rate, end + 2.5 * minute, 2)[1] ?? 0) - 300) <= 3)
  assert.ok(Math.abs((sendAll(rate, end + 6 * minute, 2)[1] ?? 0) - 400) <= 3)
  const unlimited = createSendRate()
  sendAll(unlimited, 0, 2)
  unlimited.slowDown(1_900, 2_000)
  assert.deepEqual(sendAll(unlimited, 2_000 + 6 * minute, 1), [2_000])
})

test('the rate is never lowered below ten a second, or below a lower setting', () => {
  const rate = createSendRate(1_000)
  let now = 1_000
  for (let i = 0; i < 20; i++) {
    now += 1_000
    rate.slowDown(now, now)
  }
  assert.equal(rate.slowDown(now + 1, now + 1)?.toFixed(0), '10')
  assert.equal(createSendRate(4).slowDown(0, 0), 4)
})

test('the rate that the service refused counts, if it is lower than the setting', () => {
  const rate = createSendRate(1_000)
  for (let now = 0; now < 2_000; now += 10) rate.recordSend(now)
  assert.equal(rate.slowDown(1_990, 2_000), 50)
})
