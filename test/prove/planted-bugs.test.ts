// The bugs that the simulation plants exist: each is a change of a text of src/. The full proof finds each of them.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { bugs } from '../../prove/simulation/bugs.ts'

const source = join(import.meta.dirname, '../../src')

test('each planted bug of the simulation changes a text of src', async () => {
  const missing: string[] = []
  for (const { name, file, from } of bugs)
    if (!(await readFile(join(source, file), 'utf8')).includes(from)) missing.push(`${file}: ${name}`)
  assert.deepEqual(missing, [], 'adapt prove/simulation/bugs.ts')
})
