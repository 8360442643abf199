import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { run } from './bellwire.ts'

const example = join(import.meta.dirname, '../../examples/bellwire.yaml')

test('help names every command, and each command has its own with examples', async (t) => {
  const { code, out } = await run(t, ['--help'])
  assert.equal(code, 0)
  for (const command of [
    'demo',
    'operator',
    'platform',
    'send',
    'reconcile',
    'attributes',
    'devices',
    'doctor',
    'stand-ins',
    'removals',
    'migrate',
    'config',
    'vapid',
  ]) {
    assert.match(out, new RegExp(`^  ${command} `, 'm'))
    const help = await run(t, [command, '--help'])
    assert.equal(help.code, 0, command)
    assert.match(help.out, /Examples:\n {2}/, command)
    assert.equal((await run(t, ['help', command])).out, help.out)
  }
})

test('what is not a command, or not an option, ends with 2 and a suggestion', async (t) => {
  const command = await run(t, ['sennd'])
  assert.equal(command.code, 2)
  assert.match(command.err, /Did you mean send\?/)
  const option = await run(t, ['send', '--file', 'x', '--chanel', 'push'])
  assert.equal(option.code, 2)
  assert.match(option.err, /Did you mean --channel\?/)
  const missing = await run(t, ['send'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /--file.*not specified\n\(bellwire send --help/)
  const time = await run(t, ['send', '--file', 'x', '--timeout', '5'])
  assert.equal(time.code, 2)
  assert.match(time.err, /with its unit/)
})

test('the configuration is checked and printed, without secrets, also as JSON', async (t) => {
  const check = await run(t, ['config', '--check', '-c', example])
  assert.deepEqual([check.code, check.out], [0, 'The configuration is right.\n'])
  const print = await run(t, ['config', '-c', example, '--json'], { BELLWIRE_OPERATOR_PORT: '8080' })
  const shown = JSON.parse(print.out) as { operator: { port: number }; platform: { lanes: object[] } }
  assert.equal(shown.operator.port, 8080)
  assert.equal(shown.platform.lanes.length, 3)
  assert.doesNotMatch(print.out, /example-(operator|platform|secret)/)
})

test('no configuration at all is said, not taken for a right one', async (t) => {
  const { code, err } = await run(t, ['config', '--check', '-c', '/dev/null'])
  assert.equal(code, 2)
  assert.match(err, /nothing is configured/)
})

test('the version is that of the package', async (t) => {
  const { out } = await run(t, ['--version'])
  assert.match(out, /^\d+\.\d+\.\d+\n$/)
})
