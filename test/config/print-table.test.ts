import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { settingsTable, withSettings } from '../../src/config/print-table.ts'

const running = readFileSync(join(import.meta.dirname, '../../docs/running.md'), 'utf8')

test('the settings reference in docs/running.md is current', () => {
  assert.ok(running === withSettings(running), 'outdated; run: node src/config/print-table.ts --write')
})

test('every setting has a name, an expected value, a default, a variable and a description', () => {
  const rows = settingsTable()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  assert.ok(rows.length > 50)
  for (const row of rows)
    assert.match(row, /^\| `[a-z0-9_.[\]]+` \| [^|]+ \| [^|]+ \| `BELLWIRE_[A-Z0-9_]+`(, `…_FILE`)? \| [^|]+\. \|$/)
})

test('a document without the markers is refused', () => {
  assert.throws(() => withSettings('# Running'), /lacks the lines/)
})
