// Each wrong configuration has its message: the place with file and line, the problem, the remedy. The messages are in
// messages.txt; `--test-update-snapshots` writes them again.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { ConfigError } from '../../../src/base/runtime/problem.ts'
import { loadConfig } from '../../../src/sides/config/load.ts'
import { temporary } from '../../support/sides.ts'
import { wrongFiles } from './wrong-files.ts'
import { wrongOptions } from './wrong-options.ts'

test('each wrong configuration is refused with its place and a remedy, and no secret is repeated', async (t) => {
  const folder = await temporary(t)
  const path = join(folder, 'bellwire.yaml')
  const found: string[] = []
  const note = (title: string, input: string, error: unknown): void => {
    assert.ok(error instanceof ConfigError, `${title}: ${error}`)
    found.push(`## ${title}\n${input}${error.message.replaceAll(folder, '')}\n`)
    assert.doesNotMatch(error.message, /canary/, title)
  }
  for (const [title, { file = '', env = {} }] of Object.entries(wrongFiles)) {
    await writeFile(path, file)
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
    note(title, `${file.trimEnd()}\n${variables.join('')}---\n`, await loadConfig(path, env).catch((error) => error))
  }
  for (const [title, create] of Object.entries(wrongOptions)) note(title, '', errorOf(create))
  const messages = join(import.meta.dirname, 'messages.txt')
  const expected = (await readFile(messages, 'utf8')).split(/^(?=## )/m).map((each) => each.trimEnd())
  if (!process.execArgv.includes('--test-update-snapshots'))
    assert.deepEqual(
      found.filter((each) => !expected.includes(each.trimEnd())),
      [],
    )
  t.assert.fileSnapshot(found.join('\n'), messages, { serializers: [String] })
})

function errorOf(create: () => unknown): unknown {
  try {
    return create()
  } catch (error) {
    return error
  }
}
