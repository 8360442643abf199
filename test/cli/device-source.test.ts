import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { check } from '../../src/sides/config/check.ts'
import { deviceSource } from '../../src/sides/config/compose/services/device-source.ts'
import type { Problem } from '../../src/sides/config/problem.ts'
import { readYaml } from '../../src/sides/config/read-yaml.ts'
import { devices } from '../../src/subjects/settings/devices.ts'
import { temporary } from '../support/sides.ts'

function read(yaml: string, base = '/') {
  const problems: Problem[] = []
  const value = check(devices.settings.source, readYaml(yaml, 'test.yaml', base, problems), 'source', problems)
  return { value, problems }
}

test('every kind of device source can be configured and created', async (t) => {
  const folder = await temporary(t)
  await writeFile(
    join(folder, 'mine.mjs'),
    `export const source = { name: 'mine', findDevices() {}, findHolders() {} }`,
  )
  for (const [yaml, name] of [
    ['registry', undefined],
    ['', undefined],
    ['{http: "https://backend.example/devices", auth: {bearer: x}}', 'http backend.example'],
    ['{sql: "select 1 where :users is null", database: "postgres://reader:x@127.0.0.1:1/shop"}', 'sql postgres'],
    ['{module: ./mine.mjs}', 'mine'],
  ] as const) {
    const { value, problems } = read(yaml, folder)
    assert.deepEqual(problems, [], yaml)
    const source = await deviceSource(value, 'operator.push.devices.source')
    assert.equal(typeof source === 'string' ? undefined : source.name, name)
    if (typeof source !== 'string') await source.close?.()
  }
})

test('an invalid device source is refused with the setting and the remedy', async () => {
  assert.match(read('{sql: "select 1"}').problems[0]?.path ?? '', /source\.database/)
  assert.match(read('elsewhere').problems[0]?.remedy ?? '', /write source: registry/)
  const { value } = read('{sql: "select 1", database: "postgres://a:b@127.0.0.1:1/c"}')
  await assert.rejects(
    deviceSource(value, 'operator.push.devices.source'),
    /operator\.push\.devices\.source\.sql: .*:users/,
  )
  const missing = read('{module: ./none.mjs}').value
  await assert.rejects(deviceSource(missing, 'operator.push.devices.source'), /cannot be imported/)
})
