import assert from 'node:assert/strict'
import test from 'node:test'
import type { Outcome } from '../../src/contract/outcome.ts'
import { combine } from '../../src/subjects/delivery/combine.ts'

const ok: Outcome = { category: 'successful', rule: 'ok' }
const failed = (reason: 'rejected' | 'no_device' | 'too_large', rule: string = reason): Outcome => ({
  category: 'failed',
  reason,
  rule,
  error: `it ${rule}`,
})
const fatal = (over: Partial<Extract<Outcome, { category: 'fatal' }>> = {}): Outcome => ({
  category: 'fatal',
  reason: 'unavailable',
  blame: 'provider',
  rule: 'away',
  error: 'away',
  ...over,
})

/** The outcomes of the devices → the outcome of the message. */
const table: readonly [string, readonly Outcome[], object][] = [
  ['one device that accepts', [ok], { category: 'successful', rule: 'ok' }],
  [
    'several devices, one of which accepts',
    [failed('rejected'), fatal(), ok],
    { category: 'successful', rule: 'ok (1 of 3 devices)' },
  ],
  ['one fatal outcome beside failed ones', [failed('rejected'), fatal()], { category: 'fatal', reason: 'unavailable' }],
  ['only failed: the most useful reason', [failed('no_device'), failed('too_large')], { reason: 'too_large' }],
  [
    'only failed with equal reasons: the first one',
    [failed('rejected', 'a'), failed('rejected', 'b')],
    { rule: 'a (2 of 2 devices)' },
  ],
  [
    'the most useful reason of several fatal ones',
    [fatal(), fatal({ reason: 'misconfigured', rule: 'key' })],
    { reason: 'misconfigured' },
  ],
  ['uncertain if one device is', [fatal({ uncertain: true }), fatal()], { uncertain: true }],
  ['the shortest wait', [fatal({ retryAfterMs: 9 }), fatal({ retryAfterMs: 5 })], { retryAfterMs: 5 }],
  ['every service is to blame', [fatal(), fatal()], { blame: 'provider' }],
  ['one message is to blame', [fatal(), fatal({ blame: 'message' })], { blame: 'message' }],
]

for (const [title, outcomes, expected] of table) {
  test(`devices combined: ${title}`, () => assert.partialDeepStrictEqual(combine(outcomes, false), expected))
}

test('a message that one device accepted is not uncertain, and has no Retry-After', () => {
  const outcome = combine([ok, fatal({ uncertain: true, retryAfterMs: 5 })], false)
  assert.deepEqual(Object.keys(outcome).sort(), ['category', 'rule'])
})

test('one fatal outcome without a wait removes the wait of the others', () => {
  assert.equal(
    (combine([fatal({ retryAfterMs: 60_000 }), fatal()], false) as { retryAfterMs?: number }).retryAfterMs,
    undefined,
  )
})

test('while another push service works, the outcome does not blame the provider', () => {
  assert.partialDeepStrictEqual(combine([fatal(), fatal()], true), { category: 'fatal', blame: 'message' })
})
