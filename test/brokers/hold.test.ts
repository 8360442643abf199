import assert from 'node:assert/strict'
import test from 'node:test'
import { createHold } from '../../src/base/brokers/hold.ts'
import { clock } from '../../src/base/runtime/clock.ts'
import { on } from '../../src/base/runtime/events.ts'

test('an outage of the store is reported once a minute, however many retries and messages there are', async (t) => {
  let now = 0
  t.mock.method(clock, 'monotonic', () => now)
  t.mock.method(clock, 'setTimeout', (retry: () => void, ms: number) => {
    now += ms
    return setImmediate(retry)
  })
  t.mock.method(clock, 'clearTimeout', () => {})
  const reports: number[] = []
  t.after(on('consumer.held', () => reports.push(now)))
  const hold = createHold('a queue')
  const { signal } = new AbortController()
  const outageMs = 300_000
  const take = async (): Promise<readonly never[]> => {
    if (now < outageMs) throw new Error('the store is away')
    return []
  }
  const held = Array.from({ length: 5 }, () => hold.takeWithRetries(take, [], signal))
  assert.deepEqual(await Promise.all(held), [true, true, true, true, true])
  assert.equal(reports[0], 0, 'the beginning is reported at once')
  assert.ok(reports.length >= 2 && reports.length <= 6, `${reports.length} reports in five minutes`)
  now = 0
  await hold.takeWithRetries(take, [], signal)
  assert.equal(reports.filter((at) => at === 0).length, 2, 'the next outage is reported at once')
})
