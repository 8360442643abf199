import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { readOperatorOptions, readPlatformOptions } from '../../src/sides/config/read-options.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { temporary } from '../support/sides.ts'

const file = `
operator:
  store: "sqlite::memory:"
  keys: [{ name: platform, key: 7f1c2ab93de04856, brands: ["1"] }]
  push: { provider: recording }
  suppression: none
`

test('an operator in your own server starts from a configuration file', async (t) => {
  const path = join(await temporary(t), 'bellwire.yaml')
  await writeFile(path, file)
  const operator = createOperator(await readOperatorOptions(path))
  await operator.start()
  await operator.stop()
})

test('a side without a section in the file is an error that names the file and the section', async (t) => {
  const path = join(await temporary(t), 'bellwire.yaml')
  await writeFile(path, file)
  await assert.rejects(readPlatformOptions(path), ({ name, message }: Error) => {
    assert.equal(name, 'ConfigError')
    assert.match(message, /bellwire\.yaml.*platform.*missing/s)
    return true
  })
})
