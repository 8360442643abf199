import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { settingsTables, withSettings } from '../../src/sides/config/print-table.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8')

test('the tables in docs/settings.md are current', () => {
  assert.ok(page === withSettings(page), 'outdated; run: node src/sides/config/print-table.ts --write')
})

test('every section has a sentence and a table; every setting a value, a default and a meaning', () => {
  const sections = settingsTables()
    .split(/^### /m)
    .slice(1)
    .map((section) => section.replace(/\n## .*\n+$/, ''))
  assert.ok(sections.length > 30)
  for (const section of sections) {
    assert.match(
      section,
      /^[^\n]+\n\n[^\n]+\.\n\n(In [^\n]+:\n\n)?\| Setting \| Value \| Default \| Meaning \|\n\|[-|]+\|\n/,
    )
    const rows = section.split('\n').filter((line) => line.startsWith('| `'))
    assert.ok(rows.length > 0, section)
    for (const row of rows) assert.match(row, /^\| `[a-z0-9_.[\]]+` \| [^|]+ \| [^|]+ \| [^|]+\. \|$/)
  }
})

test('a setting that belongs to no section is named', () => {
  const setting = { type: 'json', help: 'New.' } as const
  const described = { path: 'operator.new', place: 'operator', section: 'News', setting }
  assert.throws(() => settingsTables([described]), /operator\.new belongs to no section/)
})

test('a place is named where places differ', () => {
  const tables = settingsTables()
  assert.match(tables, /\| `port` \| [^|]+ \| `7001` \(`operator`\), `7002` \(`platform`\) \|/)
  assert.match(tables, /\| `dead_queue` \| [^|]+ \| – \| `platform`: /)
  assert.match(tables, /\| `client_id` \| [^|]+ \| \*\*required\*\* \| `oauth2`: /)
  assert.match(tables, /In `operator\.push\.devices\.services\[\]`, with `provider: fcm`:/)
})

test('a document without the markers is refused', () => {
  assert.throws(() => withSettings('# Settings'), /lacks the lines/)
})
