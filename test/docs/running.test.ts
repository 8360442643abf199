// The tables of docs/running.md agree with the code.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'

const page = await readFile(join(import.meta.dirname, '../../docs/running.md'), 'utf8')

test('the table of exit codes has every code', async () => {
  const { exit } = await import('../../src/tools/cli/exit.ts')
  const shown = [...page.matchAll(/^\| (\d) \| /gm)].map(([, code]) => Number(code))
  assert.deepEqual(shown, Object.values(exit))
})
