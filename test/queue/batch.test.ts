import assert from 'node:assert/strict'
import test from 'node:test'
import { type BatchLimits, cutBatch, type Line } from '../../src/queue/batch.ts'
import type { Row } from '../../src/queue/row.ts'
import { keyOf, row, rows } from './rows.ts'

const limits: BatchLimits = { max: 3, bytes: 100, spanMs: 200, order: 'none' }
const line = (waiting: readonly Row[]): Line => ({
  length: waiting.length,
  bytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
  at: (index) => waiting[index] as Row,
})
const cut = (waiting: readonly Row[], over: Partial<BatchLimits> = {}, now = 0) =>
  cutBatch(line(waiting), { ...limits, ...over }, now)

test('§4.1 rule 3: a batch goes when the message count is reached', () => {
  assert.deepEqual(cut(rows(1, 3)), { take: 3, left: [], bytes: 30, full: true })
  assert.deepEqual(cut(rows(1, 5)), { take: 3, left: [], bytes: 30, full: true })
})

test('§4.1 rule 3: a batch that is not full goes after the time span, counted from its first message', () => {
  const waiting = [row(1, { since: 1_000 }), row(2, { since: 1_150 })]
  assert.deepEqual(cut(waiting, {}, 1_050), { waitMs: 150 })
  assert.deepEqual(cut(waiting, {}, 1_200), { take: 2, left: [], bytes: 20, full: false })
})

test('a span of 0 sends at once whatever is there', () => {
  assert.deepEqual(cut(rows(1, 1), { spanMs: 0 }), { take: 1, left: [], bytes: 10, full: false })
})

test('with nothing in line it waits until something comes', () => {
  assert.deepEqual(cut([]), { waitMs: Number.POSITIVE_INFINITY })
})

test('a clock that is ahead elsewhere makes nobody wait longer than the span', () => {
  assert.deepEqual(cut([row(1, { since: 3_600_000 })]), { waitMs: 200 })
})

test('a batch is full when the next message would make it too long; one that is too long by itself goes alone', () => {
  assert.deepEqual(cut(rows(1, 3, { bytes: 40 })), { take: 2, left: [], bytes: 80, full: true })
  assert.deepEqual(cut([row(1, { bytes: 500 }), row(2)]), { take: 1, left: [], bytes: 500, full: true })
})

test('an activity.id is never twice in one batch: the second stays in line', () => {
  const twice = [row(1), row(2, { key: keyOf(1, '1002') }), row(3), row(4)]
  assert.deepEqual(cut(twice), { take: 4, left: [1], bytes: 30, full: true })
  assert.deepEqual(cut(twice.slice(0, 2), {}, 200), { take: 2, left: [1], bytes: 10, full: false })
})

test('as many messages as a batch holds do not fill it if they have one id', () => {
  const same = rows(1, 3, { key: keyOf(1) })
  assert.deepEqual(cut(same, {}, 150), { waitMs: 50 })
  assert.deepEqual(cut(same, {}, 200), { take: 3, left: [1, 2], bytes: 10, full: false })
})

test('in an ordered lane nobody overtakes: the batch ends before the id that it has already', () => {
  const twice = [row(1), row(2, { key: keyOf(1, '1002') }), row(3)]
  assert.deepEqual(cut(twice, { order: 'lane' }), { take: 1, left: [], bytes: 10, full: true })
})

test('a long row of one id is not searched to its end for another', () => {
  const { take } = cut(rows(1, 5_000, { key: keyOf(1) })) as { take: number }
  assert.ok(take < 1_100)
})

test('ids are told apart by their text, whatever characters they have', () => {
  const odd = ['a"b', 'a"c', 'a\\', 'a', '1', '11']
  const waiting = odd.map((id, i) => row(i, { key: keyOf(id) }))
  const { take, left } = cut([...waiting, ...waiting], { max: 10 }, 200) as Extract<
    ReturnType<typeof cut>,
    { take: number }
  >
  assert.deepEqual([take, left], [12, [6, 7, 8, 9, 10, 11]])
})

test('items that are no messages have no id to collide', () => {
  const events = [row(1, { key: 'link 7' }), row(2, { key: '["broken' }), row(3, { key: 'link 8' })]
  assert.deepEqual(cut(events), { take: 3, left: [], bytes: 30, full: true })
})
