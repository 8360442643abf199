import assert from 'node:assert/strict'
import test from 'node:test'
import { addExpiry, readExpiry } from '../../src/contract/expiry.ts'

test('row 56: an expiry is a date and time with its zone, or seconds or milliseconds since 1970', () => {
  for (const [value, expected] of [
    ['2026-11-23T18:00:00Z', 1_795_456_800_000],
    ['2026-11-23T19:00:00.5+01:00', 1_795_456_800_500],
    ['2026-11-23 18:00:00z', 1_795_456_800_000],
    [1_795_456_800, 1_795_456_800_000],
    [1_795_456_800_000, 1_795_456_800_000],
    ['2026-11-23T18:00:00', undefined],
    ['2026-13-45T18:00:00Z', undefined],
    ['2027-02-30T00:00:00Z', undefined],
    ['2027-02-29T00:00:00Z', undefined],
    ['2028-02-29T00:00:00Z', 1_835_395_200_000],
    ['tomorrow', undefined],
    ['1795456800', undefined],
    [1.5, undefined],
    [-1, undefined],
    [{}, undefined],
    [true, undefined],
  ] as const)
    assert.equal(readExpiry(value), expected, JSON.stringify(value))
})

test('an expiry is added at the end of a record, if its pointer is one name', () => {
  const text = '{"activity":{"id":1},"title":"}"} \n'
  const added = addExpiry(text, '/expires~1at', 1_795_456_800_000)
  assert.equal(added, '{"activity":{"id":1},"title":"}","expires/at":"2026-11-23T18:00:00.000Z"}')
  assert.equal(addExpiry(text, '/meta/expires_at', 1), text)
})
