import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { profileSchema } from '../../src/contract/integration-profile.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import { temporary } from '../support/sides.ts'
import { run } from './bellwire.ts'

test('init writes a valid configuration of each side, with fresh keys that only the owner can read', async (t) => {
  const folder = await temporary(t)
  const [operator, platform] = [join(folder, 'operator'), join(folder, 'platform')]
  const users = join(import.meta.dirname, '../../examples/users.csv')
  const first = await run(['init', 'operator', '--dir', operator, '--brands', '1,2', '--users', users])
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, /The configuration is valid\.\n\n {2}bellwire operator --config /)
  const key = join(operator, 'keys/platform')
  assert.equal((await stat(key)).mode & 0o777, 0o600)
  const second = await run(['init', 'platform', '--dir', platform, '--operator-key-file', key])
  assert.equal(second.code, 0, second.err)
  const config = await loadConfig(join(operator, 'bellwire.yaml'), {})
  assert.deepEqual(config.operator?.keys[0]?.brands, ['1', '2'])
  assert.match(first.out, /--user 1001 --brand 1 --subscribe\n/)
  const npx = await run(['init', 'operator', '--dir', join(folder, 'npx')], { npm_command: 'exec' })
  assert.match(
    npx.out,
    /\n\n {2}npx bellwire operator --config \S+\n {2}npx bellwire push .*\n {2}npx bellwire doctor /,
  )
  // They change, copy and erase nothing, and decide nothing.
  assert.deepEqual(config.operator.adminKeys[0]?.scopes, ['counts', 'read', 'audit'])
  const [lane] = (await loadConfig(join(platform, 'bellwire.yaml'), {})).platform?.lanes ?? []
  assert.equal(lane?.to.is === 'operator-api' && lane.to.apiKey, config.operator.keys[0].key)
  assert.ok(!(await readFile(join(operator, 'bellwire.yaml'), 'utf8')).includes(await readFile(key, 'utf8')))
})

test('init replaces no file, and an answer that is not valid writes none', async (t) => {
  const folder = await temporary(t)
  const wrong = await run(['init', 'operator', '--dir', folder, '--brands', 'one'])
  assert.deepEqual([wrong.code, /"one" is no valid answer/.test(wrong.err)], [2, true])
  assert.equal((await run(['init', 'operator', '--dir', folder, '--push', 'recording'])).code, 0)
  const written = await readFile(join(folder, 'keys/platform'), 'utf8')
  const again = await run(['init', 'operator', '--dir', folder])
  assert.deepEqual([again.code, /exists: nothing was written/.test(again.err)], [2, true])
  assert.equal(await readFile(join(folder, 'keys/platform'), 'utf8'), written)
})

test('bellwire operator profile prints the profile or writes it to a file', async (t) => {
  const folder = await temporary(t)
  const config = join(folder, 'bellwire.yaml')
  const out = join(folder, 'operator-profile.json')
  const key = '7f1c2ab93de04856'
  const operator = `operator:
  public_url: https://operator.example/api
  keys: [{name: platform, key: ${key}, brands: [1], rate: {per_brand: 60}}]
  push: recording
  suppression: none
`
  await writeFile(config, operator)
  const printed = await run(['operator', 'profile', '--config', config])
  assert.equal(printed.code, 0, printed.err)
  assert.ok(!printed.out.includes(key))
  assert.equal((await run(['operator', '--config', config, 'profile', '--out', out])).code, 0)
  assert.deepEqual(JSON.parse(await readFile(out, 'utf8')).keys, JSON.parse(printed.out).keys)
  const lane = `{brand: 1, channel: push, profile: ${out}, to: {api_key: ${key}}}`
  await writeFile(join(folder, 'platform.yaml'), `platform: {keys: [], lanes: [${lane}]}\n`)
  const { platform } = await loadConfig(join(folder, 'platform.yaml'), {})
  assert.equal(platform?.lanes[0]?.perSecond, 60)
  await writeFile(config, operator.replace(/ {2}public_url.*\n/, ''))
  const refused = await run(['operator', 'profile', '--config', config])
  assert.equal(refused.code, 2)
  assert.match(refused.err, /operator\.public_url: missing; the profile needs it/)
  const { out: schema } = await run(['operator', 'profile', '--schema'])
  assert.deepEqual(JSON.parse(schema), JSON.parse(JSON.stringify(profileSchema)))
})

test('init: a folder that cannot be written is an error without a stack', async (t) => {
  const file = join(await temporary(t), 'file')
  await writeFile(file, '')
  const { code, err } = await run(['init', 'operator', '--dir', join(file, 'new')])
  assert.match(err, /^bellwire: --dir cannot be written: ENOTDIR[^\n]*\n$/)
  assert.equal(code, 2)
})
