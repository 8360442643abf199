// suppression.fields, .exempt and .module mean the same at the operator and at a platform that delivers itself.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { readOperatorOptions, readPlatformOptions } from '../../src/sides/config/read-options.ts'
import { temporary } from '../support/sides.ts'

const file = (rules: string): string => `
operator:
  store: "sqlite::memory:"
  keys: [{ name: platform, key: 7f1c2ab93de04856, brands: ["1"] }]
  push: { provider: recording }
  attributes: [{ file: ./users.csv }]
  suppression: { provider: attributes, ${rules} }
platform:
  store: sqlite:platform.db
  keys: [{ name: backend, key: 7f1c2ab93de04857, scopes: [enqueue] }]
  lanes: [{ brand: "1", channel: push, to: own }]
  own:
    push: { provider: recording }
    suppression: { provider: crm, ${rules} }
`

test('fields, exempt messages and a rule of one’s own are settings of both sides', async (t) => {
  const folder = await temporary(t)
  const path = join(folder, 'bellwire.yaml')
  await writeFile(join(folder, 'users.csv'), 'user_id,brand,blocked,active\n1001,1,false,true\n')
  await writeFile(join(folder, 'mine.ts'), "export const rest = (): string => 'a break'\nexport const rule = 5\n")
  const both = async (rules: string) => {
    await writeFile(path, file(rules))
    const operator = await readOperatorOptions(path)
    const platform = await readPlatformOptions(path)
    return [operator.suppression, platform.own?.suppression].map((options) => {
      assert.ok(options && options !== 'none')
      return options
    })
  }
  for (const options of await both(
    'fields: [blocked, active], exempt: {activities: [7], trigger_hashes: [login]}, module: ./mine.ts, name: rest',
  )) {
    assert.deepEqual(options.fields, ['blocked', 'active'])
    assert.deepEqual(options.exempt, { activities: ['7'], triggerHashes: ['login'] })
    assert.equal(options.rule?.({} as never, {} as never), 'a break')
  }
  await assert.rejects(both('fields: [consent_email]'), /fields/)
  await assert.rejects(both('module: ./mine.ts'), /expected a function|exports no/)
})
