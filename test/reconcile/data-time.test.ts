import assert from 'node:assert/strict'
import test from 'node:test'
import { checkDataTime } from '../../src/subjects/reconcile/data-time.ts'

const now = Date.parse('2026-11-26T08:00:00Z')

test('the time of a list is at most a minute ahead and at most seven days old', () => {
  for (const at of ['2026-11-26T08:01:00Z', '2026-11-26T07:00:00Z', '2026-11-19T08:00:00Z'])
    checkDataTime(Date.parse(at), now)
  for (const [at, why] of [
    ['2026-11-26T08:01:01Z', /2026-11-26T08:01:01\.000Z is in the future: it is 2026-11-26T08:00:00\.000Z here/],
    ['2026-11-26T10:00:00Z', /is in the future/],
    ['2026-11-19T07:59:59Z', /is more than 7 days old/],
    ['0001-01-01T00:00:00Z', /is more than 7 days old/],
  ] as const)
    assert.throws(() => checkDataTime(Date.parse(at), now), why)
})
