import assert from 'node:assert/strict'
import test from 'node:test'
import { packRuns, type SettledItem, unpackRun } from '../../src/base/queue/lane/settled-runs.ts'
import { settledState } from '../../src/base/queue/tables.ts'

const successful = (seq: number, over: Partial<SettledItem> = {}): SettledItem => ({
  seq,
  state: settledState.successful,
  attempt: 1,
  rule: '§7.2.2 successful',
  call: 'c1',
  ...over,
})

/** Packs the items, and checks the runs and each unpacked item. */
function checkRuns(settled: readonly SettledItem[], runs: readonly (readonly [number, number])[]): void {
  const packed = packRuns(settled)
  assert.deepEqual(
    packed.map(({ first, last }) => [first, last]),
    runs,
  )
  for (const each of settled) {
    const run = packed.find(({ first, last }) => first <= each.seq && each.seq <= last)
    assert.ok(run)
    assert.deepEqual({ ...unpackRun(run)(each.seq) }, JSON.parse(JSON.stringify(each)))
  }
}

test('consecutive successful items are one run, even if their fields differ', () => {
  checkRuns(
    [successful(1), successful(2, { attempt: 3 }), successful(3, { call: undefined }), successful(4, { call: 'c2' })],
    [[1, 4]],
  )
})

test('a value that is equal for all items of a run is stored once', () => {
  assert.equal(
    packRuns([successful(1), successful(2, { call: 'c2' })])[0]?.detail,
    '{"attempt":1,"rule":"§7.2.2 successful","call":["c1","c2"]}',
  )
})

test('a gap ends a run: the items in it are not settled', () => {
  checkRuns(
    [successful(1), successful(3), successful(4)],
    [
      [1, 1],
      [3, 4],
    ],
  )
})

test('each failed item is a run of its own, so that its replay can replace it', () => {
  const failed = (seq: number): SettledItem =>
    successful(seq, { state: settledState.failed, reason: 'rejected', error: 'no' })
  checkRuns(
    [successful(1), failed(2), failed(3), successful(4)],
    [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ],
  )
})

test('runs have a bounded length', () => {
  checkRuns(
    Array.from({ length: 2_500 }, (_, i) => successful(i + 1)),
    [
      [1, 2_000],
      [2_001, 2_500],
    ],
  )
})

test('no items make no run', () => {
  assert.deepEqual(packRuns([]), [])
})
