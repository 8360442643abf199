import assert from 'node:assert/strict'
import test from 'node:test'
import { createStock } from '../../src/queue/stock.ts'
import { row, rows, seqs } from './rows.ts'

const all = { take: 1_000_000, left: [] }

test('rows leave in the order in which they came, and stay known until they are forgotten', () => {
  const stock = createStock()
  stock.add(rows(1, 5))
  const taken = stock.take({ take: 3, left: [] })
  assert.deepEqual(seqs(taken), [1, 2, 3])
  assert.deepEqual([stock.length, stock.bytes, stock.size, stock.weight], [2, 20, 5, 50])
  stock.forget(taken)
  assert.deepEqual([stock.size, stock.weight, stock.known(3), stock.known(4)], [2, 20, false, true])
})

test('a row that is known is not added again', () => {
  const stock = createStock()
  stock.add(rows(1, 2))
  stock.take(all)
  stock.add(rows(1, 3))
  assert.deepEqual(seqs(stock.take(all)), [3])
})

test('what a batch leaves keeps its place', () => {
  const stock = createStock()
  stock.add(rows(1, 6))
  assert.deepEqual(seqs(stock.take({ take: 4, left: [1, 2] })), [1, 4])
  assert.deepEqual(seqs(stock.take(all)), [2, 3, 5, 6])
})

test('rows go back before all others, or behind them', () => {
  const stock = createStock()
  stock.add(rows(1, 4))
  const [a, b] = stock.take({ take: 2, left: [] })
  stock.back([b as never], 'end')
  stock.back([a as never], 'front')
  assert.equal(stock.bytes, 40)
  assert.deepEqual(seqs(stock.take(all)), [1, 3, 4, 2])
})

test('rows come back at their time, and wait for a batch from then on', () => {
  const stock = createStock()
  const taken = rows(1, 50)
  stock.add(taken)
  stock.take(all)
  for (const each of taken) stock.returnAt(each, 1_000 + ((each.seq * 37) % 50))
  assert.equal(stock.later, 50)
  assert.equal(stock.comeBack(999), 1_000)
  assert.equal(stock.length, 0)
  assert.equal(stock.comeBack(1_010), 1_011)
  const early = stock.take(all)
  assert.equal(early.length, 11)
  assert.deepEqual(
    seqs(early).map((seq) => (seq * 37) % 50),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
  assert.equal(early[0]?.since, 1_010)
  assert.equal(stock.comeBack(5_000), Number.POSITIVE_INFINITY)
  assert.equal(stock.later, 0)
})

test('a line of any length goes on', () => {
  const stock = createStock()
  for (let i = 0; i < 50; i++) {
    stock.add(rows(1 + i * 1_000, 1_000))
    stock.forget(stock.take({ take: 999, left: [] }))
  }
  assert.deepEqual([stock.length, stock.size, stock.bytes], [50, 50, 500])
  assert.equal(stock.at(0).seq, row(49_951).seq)
})
