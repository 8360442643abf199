// docs/push.md: every configuration that it shows is one, and its tables say what the code does.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import { decide, defaultRules, rulesOf } from '../../src/providers/http/rules.ts'
import { placeholders } from '../../src/providers/http/values.ts'
import { temporary } from '../support/sides.ts'

const page = await readFile(join(import.meta.dirname, '../../docs/push.md'), 'utf8')

test('every configuration on the page is accepted', async (t) => {
  const folder = await temporary(t)
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block]) => block as string)
  assert.ok(blocks.length >= 7)
  for (const block of blocks) {
    const file = join(folder, 'bellwire.yaml')
    const around =
      'operator:\n  keys: [{name: platform, key: operator-key-000000000001, brands: [1]}]\n  suppression: none\n'
    await writeFile(file, around + block.replaceAll(/^(?=.)/gm, '  '))
    const { operator } = await loadConfig(file, {})
    assert.ok(operator?.push, block)
  }
})

test('the page has every placeholder', () => {
  const [, table = ''] = /\| Placeholder \|([\s\S]*?)\n\n/.exec(page) ?? []
  const shown = new Set<string>()
  for (const [, name = ''] of table.matchAll(/`([^`]+)`/g)) shown.add(name.startsWith('.') ? `activity${name}` : name)
  const all = new Set([...placeholders.user, ...placeholders.device, 'secret.NAME'])
  assert.deepEqual([...shown].sort(), [...all].sort())
})

test('the page says what statuses mean by themselves', () => {
  const [, table = ''] = /\| Status \| Means \|\n([\s\S]*?)\n\n/.exec(page) ?? []
  const rows = [...table.matchAll(/^\| (.+?) \| `(\w+)`/gm)]
  assert.equal(rows.length, defaultRules.length)
  const rules = rulesOf([])
  for (const [, statuses = '', means] of rows)
    for (const [status] of statuses.matchAll(/\d(\d\d|xx)/g))
      assert.equal(decide(rules, Number(status.replace('xx', '99')), undefined).rule.means, means, status)
})
