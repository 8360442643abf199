// docs/running.md and docs/settings.md: the configurations that they show are accepted.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import { temporary } from '../support/sides.ts'

const page = await readFile(join(import.meta.dirname, '../../docs/running.md'), 'utf8')

test('the configuration of the first start is accepted', async (t) => {
  const [, yaml = ''] = /## First start[\s\S]*?```yaml\n([\s\S]*?)```/.exec(page) ?? []
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, yaml)
  const { operator } = await loadConfig(file, {})
  assert.equal(operator?.push?.is, 'recording')
  assert.equal(operator.admin?.port, 7101)
})

test('the table of exit codes has every code', async () => {
  const { exit } = await import('../../src/cli/exit.ts')
  const shown = [...page.matchAll(/^\| (\d) \| /gm)].map(([, code]) => Number(code))
  assert.deepEqual(shown, Object.values(exit))
})
