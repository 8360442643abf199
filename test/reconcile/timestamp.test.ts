import assert from 'node:assert/strict'
import test from 'node:test'
import { readTimestamp } from '../../src/subjects/reconcile/timestamp.ts'

test('timestamps are read in the published forms and with common deviations', () => {
  const valid: readonly [string, number][] = [
    ['2020-01-01T10:00:00Z', Date.UTC(2020, 0, 1, 10)],
    ['2015-03-02T8:27:58.721607Z', Date.UTC(2015, 2, 2, 8, 27, 58, 721)],
    ['2020-01-01T10:00:00', Date.UTC(2020, 0, 1, 10)],
    ['2020-01-01 10:00Z', Date.UTC(2020, 0, 1, 10)],
    ['2020-01-01T10:00:00.5+02:00', Date.UTC(2020, 0, 1, 8, 0, 0, 500)],
    ['2020-01-01T00:30:00-0130', Date.UTC(2020, 0, 1, 2)],
    ['2020-01-01T10:00:00,5+00', Date.UTC(2020, 0, 1, 10, 0, 0, 500)],
    ['20200101T100000Z', Date.UTC(2020, 0, 1, 10)],
    ['20200101T1000+02', Date.UTC(2020, 0, 1, 8)],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
  ]
  for (const [text, ms] of valid) assert.equal(readTimestamp(text), ms, text)
  for (const text of [
    '',
    'yesterday',
    '2020-13-01T10:00:00Z',
    '2021-02-29T10:00:00Z',
    '2020-01-01T24:00:00Z',
    '2020-01-01T10:60:00Z',
    '2020-01-01',
    '20200101',
    '1577872800',
  ])
    assert.equal(readTimestamp(text), undefined, text)
})
