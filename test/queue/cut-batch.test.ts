import assert from 'node:assert/strict'
import test from 'node:test'
import type { BufferedItem } from '../../src/base/queue/lane/buffered-item.ts'
import { type BatchLimits, type BatchSource, cutBatch } from '../../src/base/queue/lane/cut-batch.ts'
import { bufferedItem, bufferedItems, keyOf } from './buffered-items.ts'

const limits: BatchLimits = { max: 3, bytes: 100, spanMs: 200, order: 'none' }
const sourceOf = (waiting: readonly BufferedItem[]): BatchSource => ({
  length: waiting.length,
  bytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
  at: (index) => waiting[index] as BufferedItem,
})
const cut = (waiting: readonly BufferedItem[], over: Partial<BatchLimits> = {}, now = 0) =>
  cutBatch(sourceOf(waiting), { ...limits, ...over }, now)

test('§4.1 rule 3: a batch is sent when the message count is reached', () => {
  assert.deepEqual(cut(bufferedItems(1, 3)), { scanned: 3, skipped: [], bytes: 30, full: true })
  assert.deepEqual(cut(bufferedItems(1, 5)), { scanned: 3, skipped: [], bytes: 30, full: true })
})

test('§4.1 rule 3: an incomplete batch is sent when its first message has waited for the time span', () => {
  const waiting = [bufferedItem(1, { waitingSince: 1_000 }), bufferedItem(2, { waitingSince: 1_150 })]
  assert.deepEqual(cut(waiting, {}, 1_050), { waitMs: 150 })
  assert.deepEqual(cut(waiting, {}, 1_200), { scanned: 2, skipped: [], bytes: 20, full: false })
})

test('a span of 0 sends an incomplete batch at once', () => {
  assert.deepEqual(cut(bufferedItems(1, 1), { spanMs: 0 }), { scanned: 1, skipped: [], bytes: 10, full: false })
})

test('an empty source waits until an item arrives', () => {
  assert.deepEqual(cut([]), { waitMs: Number.POSITIVE_INFINITY })
})

test('a batch is full when the next message would exceed the byte limit; a message over the limit is sent alone', () => {
  assert.deepEqual(cut(bufferedItems(1, 3, { bytes: 40 })), { scanned: 2, skipped: [], bytes: 80, full: true })
  assert.deepEqual(cut([bufferedItem(1, { bytes: 500 }), bufferedItem(2)]), {
    scanned: 1,
    skipped: [],
    bytes: 500,
    full: true,
  })
})

test('a batch never contains an activity.id twice: the second message stays in its place', () => {
  const twice = [bufferedItem(1), bufferedItem(2, { key: keyOf(1, '1002') }), bufferedItem(3), bufferedItem(4)]
  assert.deepEqual(cut(twice), { scanned: 4, skipped: [1], bytes: 30, full: true })
  assert.deepEqual(cut(twice.slice(0, 2), {}, 200), { scanned: 2, skipped: [1], bytes: 10, full: false })
})

test('messages with the same id do not fill a batch', () => {
  const same = bufferedItems(1, 3, { key: keyOf(1) })
  assert.deepEqual(cut(same, {}, 150), { waitMs: 50 })
  assert.deepEqual(cut(same, {}, 200), { scanned: 3, skipped: [1, 2], bytes: 10, full: false })
})

test('in an ordered lane no item is skipped: the batch ends before a repeated id', () => {
  const twice = [bufferedItem(1), bufferedItem(2, { key: keyOf(1, '1002') }), bufferedItem(3)]
  assert.deepEqual(cut(twice, { order: 'lane' }), { scanned: 1, skipped: [], bytes: 10, full: true })
})

test('after 1,000 skipped items the search for another id ends', () => {
  const { scanned } = cut(bufferedItems(1, 5_000, { key: keyOf(1) })) as { scanned: number }
  assert.ok(scanned < 1_100)
})

test('ids with quotes and backslashes are distinguished', () => {
  const odd = ['a"b', 'a"c', 'a\\', 'a', '1', '11']
  const waiting = odd.map((id, i) => bufferedItem(i, { key: keyOf(id) }))
  const { scanned, skipped } = cut([...waiting, ...waiting], { max: 10 }, 200) as Extract<
    ReturnType<typeof cut>,
    { scanned: number }
  >
  assert.deepEqual([scanned, skipped], [12, [6, 7, 8, 9, 10, 11]])
})

test('items that are not messages never share an id', () => {
  const events = [
    bufferedItem(1, { key: 'link 7' }),
    bufferedItem(2, { key: '["broken' }),
    bufferedItem(3, { key: 'link 8' }),
  ]
  assert.deepEqual(cut(events), { scanned: 3, skipped: [], bytes: 30, full: true })
})
