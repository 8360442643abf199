// The cases of h2spec's client mode, strict.

import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutGo } from '../support/services/go.ts'
import { runH2spec } from './h2specd.ts'

const skip = await withoutGo()
/** The number of cases of h2spec 2.2.1. */
const cases = 57

test('http2: h2spec passes in strict mode', { skip, timeout: 120_000 }, async () => {
  const results = await runH2spec()
  assert.equal(results.length, cases)
  const failed = results.filter(({ state }) => state !== 'passed')
  assert.deepEqual(
    failed.map(({ name, detail }) => `${name}: ${detail}`),
    [],
  )
})
