import assert from 'node:assert/strict'
import test from 'node:test'
import {
  createWitnessReport,
  findIdentifierConflicts,
  findNeedlessCalls,
  type WitnessedMessage,
} from '../../prove/harness/witness-report.ts'

const seen = (call: number, ref: string, brand = '1', more: Partial<WitnessedMessage> = {}): WitnessedMessage => {
  return { call, pid: 100, ref, id: '7', brand, user: '1001', ...more }
}

test('an equal id and user in two brands are two messages, and neither is sent twice', () => {
  const report = createWitnessReport([seen(1, 'a'), seen(1, 'b', '2')])
  assert.equal(report.messages.size, 2)
  assert.equal(report.secondCalls, 0)
  assert.deepEqual(findIdentifierConflicts(report), [])
})

test('a second call is counted, with the same identifier or another', () => {
  assert.equal(createWitnessReport([seen(1, 'a'), seen(2, 'a')]).secondCalls, 1)
  const other = createWitnessReport([seen(1, 'a'), seen(2, 'b')])
  assert.equal(other.secondCalls, 1)
  assert.equal(findIdentifierConflicts(other).length, 1)
})

test('one identifier of two messages is a conflict', () => {
  assert.equal(findIdentifierConflicts(createWitnessReport([seen(1, 'a'), seen(1, 'a', '2')])).length, 1)
})

test('a second call is needless unless the process of the previous call was struck', () => {
  const report = createWitnessReport([seen(1, 'a'), seen(2, 'a', '1', { pid: 200 })])
  assert.deepEqual(findNeedlessCalls(report, new Set([100])), [])
  assert.equal(findNeedlessCalls(report, new Set([200])).length, 1)
})
