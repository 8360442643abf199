import assert from 'node:assert/strict'
import test from 'node:test'
import { createLaneBuffer, type LaneBuffer } from '../../src/base/queue/lane/buffer.ts'
import { createReadAheadBudget } from '../../src/base/queue/lane/read-ahead-budget.ts'
import { seqsOf } from '../suites/queue.ts'
import { bufferedItem, bufferedItems } from './buffered-items.ts'

const all = { scanned: 1_000_000, skipped: [] }

test('items leave in the order of their arrival, and stay in the buffer until they are removed', () => {
  const buffer = createLaneBuffer(createReadAheadBudget())
  buffer.add(bufferedItems(1, 5))
  const taken = buffer.takeBatch({ scanned: 3, skipped: [] })
  assert.deepEqual(seqsOf(taken), [1, 2, 3])
  assert.deepEqual([buffer.length, buffer.bytes, buffer.size, buffer.totalBytes], [2, 20, 5, 50])
  buffer.remove(taken)
  assert.deepEqual([buffer.size, buffer.totalBytes, buffer.has(3), buffer.has(4)], [2, 20, false, true])
})

test('an item that is in the buffer is not added again', () => {
  const buffer = createLaneBuffer(createReadAheadBudget())
  buffer.add(bufferedItems(1, 2))
  buffer.takeBatch(all)
  buffer.add(bufferedItems(1, 3))
  assert.deepEqual(seqsOf(buffer.takeBatch(all)), [3])
})

test('skipped items keep their place', () => {
  const buffer = createLaneBuffer(createReadAheadBudget())
  buffer.add(bufferedItems(1, 6))
  assert.deepEqual(seqsOf(buffer.takeBatch({ scanned: 4, skipped: [1, 2] })), [1, 4])
  assert.deepEqual(seqsOf(buffer.takeBatch(all)), [2, 3, 5, 6])
})

test('requeued items go to the front or the end of the line', () => {
  const buffer = createLaneBuffer(createReadAheadBudget())
  buffer.add(bufferedItems(1, 4))
  const [a, b] = buffer.takeBatch({ scanned: 2, skipped: [] })
  buffer.requeue([b as never], 'end')
  buffer.requeue([a as never], 'front')
  assert.equal(buffer.bytes, 40)
  assert.deepEqual(seqsOf(buffer.takeBatch(all)), [1, 3, 4, 2])
})

test('delayed items return to the line when they are due, and wait for a batch from then on', () => {
  const buffer = createLaneBuffer(createReadAheadBudget())
  const taken = bufferedItems(1, 50)
  buffer.add(taken)
  buffer.takeBatch(all)
  for (const each of taken) buffer.delayUntil(each, 1_000 + ((each.seq * 37) % 50))
  assert.equal(buffer.delayed, 50)
  assert.equal(buffer.requeueDue(999), 1_000)
  assert.equal(buffer.length, 0)
  assert.equal(buffer.requeueDue(1_010), 1_011)
  const early = buffer.takeBatch(all)
  assert.equal(early.length, 11)
  assert.deepEqual(
    seqsOf(early).map((seq) => (seq * 37) % 50),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
  assert.equal(early[0]?.waitingSince, 1_010)
  assert.equal(buffer.requeueDue(5_000), Number.POSITIVE_INFINITY)
  assert.equal(buffer.delayed, 0)
})

test('the line keeps its order after many batches', () => {
  const buffer = createLaneBuffer(createReadAheadBudget())
  for (let i = 0; i < 50; i++) {
    buffer.add(bufferedItems(1 + i * 1_000, 1_000))
    buffer.remove(buffer.takeBatch({ scanned: 999, skipped: [] }))
  }
  assert.deepEqual([buffer.length, buffer.size, buffer.bytes], [50, 50, 500])
  assert.equal(buffer.at(0).seq, bufferedItem(49_951).seq)
})

test('row 57: transactional items are first, in the line, after a retry and after a delay', () => {
  const buffer = createLaneBuffer(createReadAheadBudget())
  buffer.add([...bufferedItems(1, 3), ...bufferedItems(11, 3, { transactional: true })])
  assert.deepEqual([buffer.length, buffer.bytes, buffer.at(0).seq, buffer.at(3).seq], [6, 60, 11, 1])
  const taken = buffer.takeBatch({ scanned: 5, skipped: [1, 3] })
  assert.deepEqual(seqsOf(taken), [11, 13, 2])
  buffer.requeue([taken[1] as never, taken[2] as never], 'end')
  buffer.delayUntil(taken[0] as never, 5)
  buffer.requeueDue(5)
  assert.deepEqual(seqsOf(buffer.takeBatch(all)), [12, 13, 11, 1, 3, 2])
  assert.equal(buffer.bytes, 0)
})

test('a lane may use as much memory as it leaves to the others, and a lane without items may always read', () => {
  const budget = createReadAheadBudget(10_000)
  const [first, second, third] = [1, 2, 3].map(() => createLaneBuffer(budget)) as [LaneBuffer, LaneBuffer, LaneBuffer]
  const fill = (buffer: LaneBuffer, from: number): void => {
    for (let seq = from; buffer.hasRoom; seq++) buffer.add(bufferedItems(seq, 1))
  }
  fill(first, 1)
  fill(second, 101)
  fill(third, 201)
  assert.ok(budget.freeBytes >= 0, `${budget.freeBytes} bytes are free`)
  assert.ok(first.size >= 8 && second.size >= 4 && third.size >= 2, `${[first.size, second.size, third.size]}`)
  budget.use(10_000)
  assert.equal(third.hasRoom, false)
  assert.equal(createLaneBuffer(budget).hasRoom, true)
  for (const buffer of [first, second, third]) buffer.free()
  assert.equal(budget.freeBytes, 0)
})
