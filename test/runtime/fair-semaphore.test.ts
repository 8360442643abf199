import assert from 'node:assert/strict'
import test from 'node:test'
import { createFairSemaphore } from '../../src/runtime/fair-semaphore.ts'

const soon = (): number => Date.now() + 10_000

test('at most so many at a time, and those who wait come in order', async () => {
  const turns = createFairSemaphore(2, 10)
  assert.deepEqual([turns.acquire(soon()), turns.acquire(soon())], [true, true])
  const came: number[] = []
  const waiting = [1, 2, 3].map(async (n) => {
    assert.equal(await turns.acquire(soon()), true)
    came.push(n)
  })
  for (let n = 0; n < 3; n++) turns.release()
  await Promise.all(waiting)
  assert.deepEqual(came, [1, 2, 3])
  turns.release()
  turns.release()
  assert.equal(turns.acquire(soon()), true, 'turns that nobody waited for are there')
})

test('no more wait than may, and who gave up or was too late makes room', async () => {
  const turns = createFairSemaphore(1, 2)
  void turns.acquire(soon())
  const late = turns.acquire(Date.now() + 20)
  const patient = turns.acquire(soon())
  assert.equal(turns.acquire(soon()), 'full')
  assert.equal(await late, false)
  const next = turns.acquire(soon())
  assert.notEqual(next, 'full')
  turns.release()
  assert.equal(await patient, true)
  turns.release()
  assert.equal(await next, true)
})

test('parties take turns, however many of one wait', async () => {
  const turns = createFairSemaphore(1, 1_000)
  void turns.acquire(soon())
  const came: string[] = []
  const wait = async (party: string): Promise<void> => {
    assert.equal(await turns.acquire(soon(), party), true)
    came.push(party)
  }
  const waiting = ['1', '1', '1', '1', '2', '3', '2'].map(wait)
  for (let n = 0; n < 3; n++) turns.release()
  await Promise.all(waiting.slice(4, 6))
  waiting.push(wait('4'))
  for (let n = 0; n < 5; n++) turns.release()
  await Promise.all(waiting)
  assert.deepEqual(came, ['1', '2', '3', '4', '1', '2', '1', '1'])
})

test('a party with less than its share of the places is let in where another has taken them all', () => {
  const turns = createFairSemaphore(1, 4)
  void turns.acquire(soon())
  for (let n = 0; n < 4; n++) assert.notEqual(turns.acquire(soon(), '1'), 'full')
  assert.equal(turns.acquire(soon(), '1'), 'full')
  for (let n = 0; n < 2; n++) assert.notEqual(turns.acquire(soon(), '2'), 'full')
  assert.equal(turns.acquire(soon(), '2'), 'full')
})
