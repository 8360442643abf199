// The tables of docs/push.md agree with the code.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { decide, defaultRules, rulesOf } from '../../src/subjects/providers/http/rules.ts'
import { placeholders } from '../../src/subjects/providers/http/values.ts'

const page = await readFile(join(import.meta.dirname, '../../docs/push.md'), 'utf8')

test('docs/push.md lists every placeholder', () => {
  const [, table = ''] = /\| Placeholder \|([\s\S]*?)\n\n/.exec(page) ?? []
  const listed = new Set<string>()
  for (const [, name = ''] of table.matchAll(/`([^`]+)`/g)) listed.add(name.startsWith('.') ? `activity${name}` : name)
  const all = new Set([...placeholders.user, ...placeholders.device, 'secret.NAME'])
  assert.deepEqual([...listed].sort(), [...all].sort())
})

test('docs/push.md has the default meaning of every status', () => {
  const [, table = ''] = /\| Status \| Means \|\n([\s\S]*?)\n\n/.exec(page) ?? []
  const rows = [...table.matchAll(/^\| (.+?) \| `(\w+)`/gm)]
  assert.equal(rows.length, defaultRules.length)
  const rules = rulesOf([])
  for (const [, statuses = '', means] of rows)
    for (const [status] of statuses.matchAll(/\d(\d\d|xx)/g))
      assert.equal(decide(rules, Number(status.replace('xx', '99')), undefined).rule.means, means, status)
})
