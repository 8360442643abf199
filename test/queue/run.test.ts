import assert from 'node:assert/strict'
import test from 'node:test'
import { pack, type Settled, unpack } from '../../src/queue/run.ts'
import { settledState } from '../../src/queue/tables.ts'

const done = (seq: number, over: Partial<Settled> = {}): Settled => ({
  seq,
  state: settledState.successful,
  attempt: 1,
  rule: '§7.2.2 successful',
  call: 'c1',
  ...over,
})

/** Packs, and finds everything again. */
function check(settled: readonly Settled[], runs: readonly (readonly [number, number])[]): void {
  const packed = pack(settled)
  assert.deepEqual(
    packed.map(({ first, last }) => [first, last]),
    runs,
  )
  for (const each of settled) {
    const run = packed.find(({ first, last }) => first <= each.seq && each.seq <= last)
    assert.ok(run)
    assert.deepEqual({ ...unpack(run)(each.seq) }, JSON.parse(JSON.stringify(each)))
  }
}

test('what succeeded in a row is one run, whatever differs within', () => {
  check([done(1), done(2, { attempt: 3 }), done(3, { call: undefined }), done(4, { call: 'c2' })], [[1, 4]])
})

test('what is equal for all is written once', () => {
  assert.equal(
    pack([done(1), done(2, { call: 'c2' })])[0]?.detail,
    '{"attempt":1,"rule":"§7.2.2 successful","call":["c1","c2"]}',
  )
})

test('a gap ends a run: what stands in it is not settled', () => {
  check(
    [done(1), done(3), done(4)],
    [
      [1, 1],
      [3, 4],
    ],
  )
})

test('each failed one stands alone, so that its replay can take its place', () => {
  const failed = (seq: number): Settled => done(seq, { state: settledState.failed, reason: 'rejected', error: 'no' })
  check(
    [done(1), failed(2), failed(3), done(4)],
    [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ],
  )
})

test('runs have a bounded length', () => {
  check(
    Array.from({ length: 2_500 }, (_, i) => done(i + 1)),
    [
      [1, 2_000],
      [2_001, 2_500],
    ],
  )
})

test('nothing makes no run', () => {
  assert.deepEqual(pack([]), [])
})
