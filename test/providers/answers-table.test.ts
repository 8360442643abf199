import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { answersTable, document, withAnswers } from './answers-table.ts'

test('docs/push.md has every answer of every push service: outcome, token kept or unlinked', (t) => {
  for (const line of answersTable()) t.diagnostic(line)
  const text = readFileSync(document, 'utf8')
  assert.equal(withAnswers(text), text, 'update the document: node test/providers/answers-table.ts --write')
})
