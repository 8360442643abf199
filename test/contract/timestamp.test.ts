import assert from 'node:assert/strict'
import test from 'node:test'
import { clampTo, justAfter, readTimestamp, rfc3339, timestampOf } from '../../src/contract/timestamp.ts'

test('timestamps in common notations are read with all their digits, in UTC', () => {
  for (const [written, canonical] of [
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05'],
    ['2026-01-02T03:04:05.000Z', '2026-01-02T03:04:05'],
    ['2026-01-02T03:04:05.120Z', '2026-01-02T03:04:05.12'],
    ['2015-03-02T8:27:58.721607Z', '2015-03-02T08:27:58.721607'],
    ['2026-01-02T03:04:05.1234567890123456789Z', '2026-01-02T03:04:05.1234567890123456789'],
    ['2026-01-02t03:04:05,5z', '2026-01-02T03:04:05.5'],
    ['2026-01-02 03:04:05+00:00', '2026-01-02T03:04:05'],
    ['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00'],
    ['2026-12-31T23:30:00.5-0100', '2027-01-01T00:30:00.5'],
    ['2026-01-01T12:00:00+05:45', '2026-01-01T06:15:00'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00'],
    ['2016-12-31T18:59:60-05:00', '2016-12-31T23:59:60'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00'],
    ['0050-06-01T00:00:00Z', '0050-06-01T00:00:00'],
    ['9999-12-31T23:59:59.9Z', '9999-12-31T23:59:59.9'],
  ]) {
    assert.equal(readTimestamp(written as string), canonical, written)
    assert.equal(readTimestamp(rfc3339(canonical as string)), canonical, 'reading the result again changes nothing')
  }
})

test('an invalid timestamp is rejected', () => {
  for (const text of [
    '',
    'yesterday',
    '2026-01-02',
    '2026-01-02T03:04:05',
    '2026-01-02T03:04Z',
    '2026-1-2T03:04:05Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+1:00',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
    '1700000000',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    `2026-01-01T00:00:00.${'1'.repeat(200)}Z`,
  ])
    assert.equal(readTimestamp(text), undefined, text)
})

test('the order of bytes is the order of time', () => {
  // The time as an integer of 10^-12 seconds.
  const picoseconds = (written: string): bigint => {
    const [whole = '', fraction = ''] = written.slice(0, -1).split('.')
    return BigInt(Date.parse(`${whole}Z`)) * 10n ** 9n + BigInt(fraction.padEnd(12, '0'))
  }
  const written: string[] = []
  for (const second of ['2025-12-31T23:59:59', '2026-01-01T00:00:00', '2026-01-01T00:00:01', '2026-01-01T00:00:10'])
    for (const fraction of [
      '',
      '.0',
      '.000000000001',
      '.000001',
      '.00001',
      '.09',
      '.1',
      '.10',
      '.1000001',
      '.2',
      '.99',
      '.999999999999',
    ])
      written.push(`${second}${fraction}Z`)
  for (const a of written)
    for (const b of written) {
      const [first, second] = [readTimestamp(a) as string, readTimestamp(b) as string]
      const byTime = picoseconds(a) < picoseconds(b) ? -1 : picoseconds(a) > picoseconds(b) ? 1 : 0
      assert.equal(Math.sign(Buffer.compare(Buffer.from(first), Buffer.from(second))), byTime, `${a} ${b}`)
    }
})

test('milliseconds of the clock are converted to a timestamp', () => {
  assert.equal(timestampOf(0), '1970-01-01T00:00:00')
  assert.equal(timestampOf(Date.parse('2026-01-01T10:00:00.120Z')), '2026-01-01T10:00:00.12')
  assert.equal(timestampOf(Date.parse('2026-01-01T10:20:30.000Z')), '2026-01-01T10:20:30')
})

test('a timestamp more than a minute ahead is replaced by the current time and reported', () => {
  const clamp = clampTo(Date.parse('2026-01-01T10:00:00Z'))
  assert.deepEqual(clamp('2026-01-01T10:01:00'), { at: '2026-01-01T10:01:00', clamped: false })
  assert.deepEqual(clamp('2026-01-01T10:01:00.0000001'), { at: '2026-01-01T10:00:00', clamped: true })
  assert.deepEqual(clamp('9999-01-01T00:00:00'), { at: '2026-01-01T10:00:00', clamped: true })
  assert.deepEqual(clamp('1999-01-01T00:00:00.5'), { at: '1999-01-01T00:00:00.5', clamped: false })
})

test('justAfter() returns a later time, by a microsecond at most, in canonical form', () => {
  for (const [at, after] of [
    ['2026-01-01T00:00:00', '2026-01-01T00:00:00.000001'],
    ['2026-01-01T00:00:00.5', '2026-01-01T00:00:00.500001'],
    ['2026-01-01T00:00:00.000009', '2026-01-01T00:00:00.00001'],
    ['2026-01-01T00:00:00.123456789', '2026-01-01T00:00:00.123457'],
    ['2026-01-01T00:00:00.099999', '2026-01-01T00:00:00.1'],
    ['2026-01-01T00:00:00.999999', '2026-01-01T00:00:00.9999991'],
    ['2026-01-01T00:00:00.9999998', '2026-01-01T00:00:00.99999981'],
  ]) {
    assert.equal(justAfter(at as string), after)
    assert.ok((after as string) > (at as string))
    assert.equal(readTimestamp(rfc3339(after as string)), after)
  }
})
