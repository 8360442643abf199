// Platforms that choose otherwise than the plain platform where the interface leaves the choice: none of their choices is a finding.

import assert from 'node:assert/strict'
import test from 'node:test'
import { checkPlainPlatform } from './check-plain-platform.ts'
import { notPassed } from './judge-run.ts'

/** The same record with the members of activity in the reverse order. */
function reordered(text: string): string {
  const { activity, ...content } = JSON.parse(text)
  return JSON.stringify({ ...content, activity: Object.fromEntries(Object.entries(activity).reverse()) })
}

test('a platform whose export of Failed Actions has the answers of the operator violates no rule by it', async () => {
  const outcome = await checkPlainPlatform(
    () => ({ listsOthers: ({ text }) => [text, JSON.stringify({ answer: text }), text.replaceAll('"', '""')] }),
    { only: ['failed-actions'] },
  )
  assert.deepEqual(notPassed(outcome.results), [])
})

test('a platform that orders the members of a repeated record otherwise violates no rule by it', async () => {
  const outcome = await checkPlainPlatform(
    () => ({ element: ({ text, attempts }) => (attempts > 1 ? reordered(text) : text) }),
    { only: ['repeat'] },
  )
  assert.deepEqual(notPassed(outcome.results), [])
})
