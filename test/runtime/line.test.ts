import assert from 'node:assert/strict'
import test from 'node:test'
import { createLine } from '../../src/runtime/line.ts'

const patient = { patienceMs: 10_000, mostWeight: 100 }

test('those who wait come in order, one after the other, each once there is room', async () => {
  let taken = 0
  const line = createLine(() => taken < 2, patient)
  const came: number[] = []
  const enter = async (n: number): Promise<void> => {
    const room = line.enter(1)
    if (room) await room
    taken++
    came.push(n)
    assert.ok(taken <= 2, 'no more than there is room for')
  }
  const all = [1, 2, 3, 4, 5].map(enter)
  assert.equal(taken, 2)
  while (came.length < 5) {
    await new Promise(setImmediate)
    taken = 0
    line.move()
  }
  await Promise.all(all)
  assert.deepEqual(came, [1, 2, 3, 4, 5])
})

test('nobody overtakes who was just let in and has not taken the room yet', async () => {
  let taken = 1
  const line = createLine(() => taken < 1, patient)
  const first = line.enter(1)
  taken = 0
  line.move()
  const second = line.enter(1)
  assert.ok(second, 'the room is the first one’s')
  await first
  taken = 1
  let came = false
  void second.then(() => (came = true))
  await new Promise(setImmediate)
  assert.equal(came, false)
  taken = 0
  line.move()
  await second
})

test('who waited long enough goes in, who would be too much beside the others at once; whoever left weighs nothing', async () => {
  const line = createLine(() => false, { patienceMs: 20, mostWeight: 100 })
  const first = line.enter(80)
  assert.ok(first)
  assert.equal(line.enter(30), undefined)
  await first
  const second = line.enter(100)
  assert.ok(second)
  await second
})
