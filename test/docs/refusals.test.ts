// docs/reasons.md has every reason and every refusal of the registries, in their order.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { reasons } from '../../src/contract/reasons.ts'
import { failedRefusals, fatalRefusals, refuseFailed, refuseFatal } from '../../src/contract/refusals.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reasons.md'), 'utf8')

const refusalsOf = (category: string, registry: typeof fatalRefusals | typeof failedRefusals) =>
  Object.entries(registry).map(
    ([code, { reason, rule, error, remedy }]) =>
      `| \`${code}\` | ${category}, \`${reason}\` | ${rule} | ${error} | ${remedy} |`,
  )

test('the table of reasons is that of the registry', () => {
  const rows = Object.entries(reasons).map(([code, { says, remedy }]) => `| \`${code}\` | ${says} | ${remedy} |`)
  assert.ok(
    page.includes(['| Reason | Meaning | What to do |', '|---|---|---|', ...rows, ''].join('\n')),
    rows.join('\n'),
  )
})

test('the table of refusals is that of the registry', () => {
  const rows = [...refusalsOf('fatal', fatalRefusals), ...refusalsOf('failed', failedRefusals)]
  const head = ['| Code | Outcome | Rule | Error | What to do |', '|---|---|---|---|---|']
  assert.ok(page.includes([...head, ...rows, ''].join('\n')), rows.join('\n'))
})

test('a code and a rule stand for one refusal only', () => {
  const all = [...Object.entries(fatalRefusals), ...Object.entries(failedRefusals)]
  assert.equal(new Set(all.map(([code]) => code)).size, all.length)
  assert.equal(new Set(all.map(([, { rule }]) => rule)).size, all.length)
})

test('a refusal has the members of an outcome, and those that its caller adds', () => {
  assert.deepEqual(refuseFatal('paused', { by: 'fcm', error: 'why', retryAfterMs: 5 }), {
    category: 'fatal',
    reason: 'unavailable',
    blame: 'provider',
    rule: 'fcm: paused',
    error: 'why',
    retryAfterMs: 5,
  })
  assert.deepEqual(refuseFailed('malformed', { error: 'no id' }), {
    category: 'failed',
    reason: 'invalid',
    rule: '§2.1',
    error: 'no id',
  })
})
