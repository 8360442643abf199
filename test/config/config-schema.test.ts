import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { configSchema } from '../../src/sides/config/config-schema.ts'

const isValid = new Ajv2020({ strict: false }).compile(configSchema())

test('the JSON Schema accepts each example configuration', () => {
  for (const file of globSync(join(import.meta.dirname, '../../examples/*.yaml')))
    assert.ok(isValid(parse(readFileSync(file, 'utf8'))), `${file}: ${JSON.stringify(isValid.errors?.at(-1))}`)
})

test('the JSON Schema refuses unknown settings and unknown words, and accepts texts with references', () => {
  const valid = {
    log: { level: '${LEVEL}' },
    operator: { port: '${file:port}', push: { provider: 'recording', file: 'a' } },
  }
  assert.ok(isValid(valid))
  assert.ok(!isValid({ ...valid, log: { level: 'loud' } }))
  assert.ok(!isValid({ ...valid, operator: { ...valid.operator, prot: 1 } }))
  assert.ok(!isValid({ ...valid, operator: { ...valid.operator, push: { provider: 'recording', url: 'a' } } }))
})
