import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { temporary } from '../support/sides.ts'
import { loadText } from './load-text.ts'

const yaml = `
operator:
  keys:
    - {name: old, key: operator-key-000000000001, brands: [1]}
  push: recording
  suppression: none
platform:
  keys: [{name: crm, key: platform-key-00000000001, scopes: [enqueue, counts]}]
`

test('a variable named after the path of a setting overrides it', async (t) => {
  const { operator, platform, log } = await loadText(t, yaml, {
    BELLWIRE_OPERATOR_PORT: '8080',
    BELLWIRE_OPERATOR_LIMITS_ANSWER_BUDGET: '5s',
    BELLWIRE_PLATFORM_STORE: 'postgres://localhost/bellwire',
    BELLWIRE_LOG_LEVEL: 'debug',
  })
  assert.equal(operator?.port, 8080)
  assert.equal(operator.limits.answerBudgetMs, 5000)
  assert.equal(platform?.store, 'postgres://localhost/bellwire')
  assert.equal(log.level, 'debug')
})

test('a list is written as YAML, its items are addressed by index, and an item can be appended', async (t) => {
  const { operator, platform } = await loadText(t, yaml, {
    BELLWIRE_OPERATOR_KEYS_0_KEY: 'operator-key-000000000002',
    BELLWIRE_OPERATOR_KEYS_1: '{name: new, key: operator-key-000000000003, brands: [2]}',
    BELLWIRE_PLATFORM_LANES: '[{brand: 7, channel: site, to: {module: ./x.ts}}]',
    BELLWIRE_PLATFORM_LANES_0_MAX: '10',
  })
  assert.deepEqual(operator?.keys, [
    { name: 'old', key: 'operator-key-000000000002', brands: ['1'] },
    { name: 'new', key: 'operator-key-000000000003', brands: ['2'] },
  ])
  assert.equal(platform?.lanes[0]?.brand, '7')
  assert.equal(platform.lanes[0]?.max, 10)
})

test('a variant is chosen or replaced as a whole, or by one of its settings', async (t) => {
  const whole = await loadText(t, yaml, {
    BELLWIRE_OPERATOR_PUSH: '{module: ./own.ts}',
    BELLWIRE_OPERATOR_SITE: 'inbox',
  })
  assert.equal(whole.operator?.push?.is, 'module')
  assert.deepEqual(whole.operator?.site, { is: 'inbox' })
  const part = await loadText(t, yaml, { BELLWIRE_OPERATOR_PUSH_MODULE: '/etc/own.ts' })
  assert.equal(part.operator?.push?.is, 'module')
  const attributes = await loadText(t, yaml, { BELLWIRE_OPERATOR_ATTRIBUTES_0_FILE: '/etc/users.csv' })
  assert.deepEqual(attributes.operator?.attributes, [{ is: 'file', file: '/etc/users.csv' }])
})

test('a secret can be read from a file, without its trailing newline', async (t) => {
  const folder = await temporary(t)
  await writeFile(join(folder, 'key'), 'operator-key-from-a-file\n')
  await writeFile(join(folder, 'keys'), '- {name: crm, key: platform-key-from-a-file, scopes: [counts, read]}\n')
  const { operator, platform } = await loadText(t, yaml, {
    BELLWIRE_OPERATOR_KEYS_0_KEY_FILE: join(folder, 'key'),
    BELLWIRE_PLATFORM_KEYS_FILE: join(folder, 'keys'),
  })
  assert.equal(operator?.keys[0]?.key, 'operator-key-from-a-file')
  assert.equal(platform?.keys[0]?.key, 'platform-key-from-a-file')
  await assert.rejects(loadText(t, yaml, { BELLWIRE_OPERATOR_KEYS_0_KEY_FILE: join(folder, 'none') }), /cannot be read/)
  await assert.rejects(
    loadText(t, yaml, {
      BELLWIRE_OPERATOR_KEYS_0_KEY_FILE: join(folder, 'key'),
      BELLWIRE_OPERATOR_KEYS_0_KEY: 'operator-key-000000000009',
    }),
    /set only one/,
  )
})

test('an unknown variable is refused with a suggestion', async (t) => {
  await assert.rejects(loadText(t, yaml, { BELLWIRE_OPERATOR_PROT: '1' }), /did you mean BELLWIRE_OPERATOR_PORT\?/)
  await assert.rejects(
    loadText(t, yaml, { BELLWIRE_OPERATOR_KEYS_0_KYE: 'x' }),
    /did you mean BELLWIRE_OPERATOR_KEYS_0_KEY\?/,
  )
  await assert.rejects(
    loadText(t, yaml, { BELLWIRE_OPERATOR_PORT_FILE: '/x' }),
    /BELLWIRE_OPERATOR_PORT_FILE: unknown setting/,
  )
  await assert.rejects(loadText(t, yaml, { BELLWIRE_OPERATOR_KEYS_5_KEY: 'operator-key-000000000009' }), /without gaps/)
})

test('an invalid value in the environment is reported with the name of the variable', async (t) => {
  await assert.rejects(
    loadText(t, yaml, { BELLWIRE_OPERATOR_PORT: 'http' }),
    /^ConfigError: BELLWIRE_OPERATOR_PORT {2}operator\.port: expected a whole number/,
  )
})

test('empty variables, and variables of tests and of other programs, are ignored', async (t) => {
  const { operator } = await loadText(t, yaml, {
    BELLWIRE_TEST_POSTGRES: 'x',
    BELLWIRE_OPERATOR_PORT: '',
    PATH: '/bin',
    BELLWIRE_CONFIG: 'x',
  })
  assert.equal(operator?.port, 7001)
})
