import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import { createFairSemaphore } from '../../src/base/runtime/fair-semaphore.ts'
import { createSendRate } from '../../src/base/runtime/send-rate.ts'

const farDeadline = (): number => Date.now() + 10_000

/** Time passes only in timers: in a pause of the machine, a rate would allow more. @returns the time that has passed, in ms */
function replaceClock(t: TestContext): () => number {
  let now = 0
  t.mock.method(clock, 'now', () => now)
  t.mock.method(clock, 'monotonic', () => now)
  t.mock.method(clock, 'setTimeout', (action: () => void, ms: number) => {
    setImmediate(() => {
      now += ms
      action()
    })
  })
  return () => now
}

test('a semaphore grants at most its number of permits, and serves waiters in order', async () => {
  const semaphore = createFairSemaphore(2, 10)
  assert.deepEqual([semaphore.acquire(farDeadline()), semaphore.acquire(farDeadline())], [true, true])
  const served: number[] = []
  const waiting = [1, 2, 3].map(async (n) => {
    assert.equal(await semaphore.acquire(farDeadline()), true)
    served.push(n)
  })
  for (let n = 0; n < 3; n++) semaphore.release()
  await Promise.all(waiting)
  assert.deepEqual(served, [1, 2, 3])
  semaphore.release()
  semaphore.release()
  assert.equal(semaphore.acquire(farDeadline()), true, 'released permits without waiters are free')
})

test('the number of waiters is limited, and an expired waiter leaves the queue', async () => {
  const semaphore = createFairSemaphore(1, 2)
  void semaphore.acquire(farDeadline())
  const late = semaphore.acquire(Date.now() + 20)
  const patient = semaphore.acquire(farDeadline())
  assert.equal(semaphore.acquire(farDeadline()), 'full')
  assert.equal(await late, false)
  const next = semaphore.acquire(farDeadline())
  assert.notEqual(next, 'full')
  semaphore.release()
  assert.equal(await patient, true)
  semaphore.release()
  assert.equal(await next, true)
})

test('parties are served round-robin, however many callers of one party wait', async () => {
  const semaphore = createFairSemaphore(1, 1_000)
  void semaphore.acquire(farDeadline())
  const served: string[] = []
  const wait = async (party: string): Promise<void> => {
    assert.equal(await semaphore.acquire(farDeadline(), party), true)
    served.push(party)
  }
  const waiting = ['1', '1', '1', '1', '2', '3', '2'].map(wait)
  for (let n = 0; n < 3; n++) semaphore.release()
  await Promise.all(waiting.slice(4, 6))
  waiting.push(wait('4'))
  for (let n = 0; n < 5; n++) semaphore.release()
  await Promise.all(waiting)
  assert.deepEqual(served, ['1', '2', '3', '4', '1', '2', '1', '1'])
})

test('a party with less than its share of waiters may wait although another party uses the whole limit', () => {
  const semaphore = createFairSemaphore(1, 4)
  void semaphore.acquire(farDeadline())
  for (let n = 0; n < 4; n++) assert.notEqual(semaphore.acquire(farDeadline(), '1'), 'full')
  assert.equal(semaphore.acquire(farDeadline(), '1'), 'full')
  for (let n = 0; n < 2; n++) assert.notEqual(semaphore.acquire(farDeadline(), '2'), 'full')
  assert.equal(semaphore.acquire(farDeadline(), '2'), 'full')
})

test('with a rate, permits are given to waiters in turn no faster than the rate, although more are free', async (t) => {
  const passedMs = replaceClock(t)
  const rate = createSendRate(100)
  const semaphore = createFairSemaphore(1_000, 1_000, { rate })
  const served: string[] = []
  const parties = [...Array<string>(40).fill('1'), '2']
  await Promise.all(
    parties.map(async (party) => {
      assert.equal(await semaphore.acquire(10_000, party), true)
      served.push(party)
    }),
  )
  assert.equal(passedMs(), 300, '11 at once, then one every 10 ms')
  assert.ok(served.indexOf('2') < 14, `the other party was number ${served.indexOf('2')}`)
})

test('with a rate, a caller that cannot be served before its deadline is refused at once', async (t) => {
  replaceClock(t)
  const semaphore = createFairSemaphore(1_000, 1_000, { rate: createSendRate(10) })
  const served = Array.from({ length: 7 }, () => semaphore.acquire(1_000, '1'))
  assert.equal(semaphore.waiting, 5)
  assert.equal(semaphore.acquire(300, '1'), 'full')
  const other = semaphore.acquire(300, '2')
  assert.notEqual(other, 'full', 'it is the next party')
  assert.ok((await Promise.all([...served, other])).every((acquired) => acquired === true))
})

test('a group has at most its share of the permits, and its waiters delay no other group', async () => {
  const semaphore = createFairSemaphore(10, 1_000, { mostOfGroup: 2 })
  const slow = Array.from({ length: 50 }, () => semaphore.acquire(farDeadline(), '1', 'slow'))
  assert.deepEqual(slow.slice(0, 2), [true, true])
  assert.equal(semaphore.waiting, 48)
  for (let n = 0; n < 100; n++) {
    assert.equal(await semaphore.acquire(farDeadline(), '1', 'fast'), true)
    semaphore.release('fast')
  }
  assert.equal(semaphore.waiting, 48)
  semaphore.release('slow')
  assert.equal(await slow[2], true, 'the next of the group')
})
