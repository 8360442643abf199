import assert from 'node:assert/strict'
import test from 'node:test'
import { createLine } from '../../src/runtime/line.ts'

const soon = (): number => Date.now() + 10_000

test('those who wait come in order, one after the other, each once there is room', async () => {
  let taken = 0
  const line = createLine(() => taken < 2, 100)
  const came: number[] = []
  const enter = async (n: number): Promise<void> => {
    const room = line.enter(soon(), 1)
    if (room) assert.equal(await room, true)
    taken++
    came.push(n)
    assert.ok(taken <= 2, 'no more than there is room for')
  }
  const all = [1, 2, 3, 4, 5].map(enter)
  assert.equal(taken, 2)
  while (came.length < 5) {
    await new Promise(setImmediate)
    taken -= taken
    line.move()
  }
  await Promise.all(all)
  assert.deepEqual(came, [1, 2, 3, 4, 5])
})

test('nobody overtakes who was just let in and has not taken the room yet', async () => {
  let taken = 1
  const line = createLine(() => taken < 1, 100)
  const first = line.enter(soon(), 1)
  taken = 0
  line.move()
  const second = line.enter(soon(), 1)
  assert.ok(second, 'the room is the first one’s')
  assert.equal(await first, true)
  taken = 1
  let came = false
  void second.then(() => (came = true))
  await new Promise(setImmediate)
  assert.equal(came, false)
  taken = 0
  line.move()
  assert.equal(await second, true)
})

test('who is too late, or too heavy beside the others, hears it; whoever left weighs nothing', async () => {
  const line = createLine(() => false, 100)
  const late = line.enter(Date.now() + 20, 80)
  assert.equal(await line.enter(soon(), 30), false)
  assert.equal(await late, false)
  const patient = line.enter(soon(), 100)
  line.open()
  assert.equal(await patient, true)
})
