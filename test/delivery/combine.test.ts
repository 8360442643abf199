import assert from 'node:assert/strict'
import test from 'node:test'
import type { Outcome } from '../../src/contract/outcome.ts'
import { combine } from '../../src/delivery/combine.ts'

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

/** What the devices said → what is said of the message. */
const table: readonly [string, readonly Outcome[], object][] = [
  ['one that accepts', [ok], { category: 'successful', rule: 'ok' }],
  ['any that accepts', [failed('rejected'), fatal(), ok], { category: 'successful', rule: 'ok (1 of 3 devices)' }],
  ['one fatal beside failed', [failed('rejected'), fatal()], { category: 'fatal', reason: 'unavailable' }],
  ['only failed: the most telling one', [failed('no_device'), failed('too_large')], { reason: 'too_large' }],
  [
    'only failed: the first of equals',
    [failed('rejected', 'a'), failed('rejected', 'b')],
    { rule: 'a (2 of 2 devices)' },
  ],
  ['the most telling fatal', [fatal(), fatal({ reason: 'misconfigured', rule: 'key' })], { reason: 'misconfigured' }],
  ['uncertain if any is', [fatal({ uncertain: true }), fatal()], { uncertain: true }],
  ['the shortest wait', [fatal({ retryAfterMs: 9 }), fatal({ retryAfterMs: 5 })], { retryAfterMs: 5 }],
  ['every service is to blame', [fatal(), fatal()], { blame: 'provider' }],
  ['one message is to blame', [fatal(), fatal({ blame: 'message' })], { blame: 'message' }],
]

for (const [title, outcomes, expected] of table) {
  test(`devices combined: ${title}`, () => assert.partialDeepStrictEqual(combine(outcomes, false), expected))
}

test('a message that was accepted somewhere is not uncertain, and is not waited for', () => {
  const outcome = combine([ok, fatal({ uncertain: true, retryAfterMs: 5 })], false)
  assert.deepEqual(Object.keys(outcome).sort(), ['category', 'rule'])
})

test('a fatal that asks for no wait is not made to wait for another', () => {
  assert.equal(
    (combine([fatal({ retryAfterMs: 60_000 }), fatal()], false) as { retryAfterMs?: number }).retryAfterMs,
    undefined,
  )
})

test('while another push service works, one that does not is never blamed for all', () => {
  assert.partialDeepStrictEqual(combine([fatal(), fatal()], true), { category: 'fatal', blame: 'message' })
})
