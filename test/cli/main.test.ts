import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { temporary } from '../support/sides.ts'
import { run, start } from './bellwire.ts'

const example = join(import.meta.dirname, '../../examples/bellwire.yaml')

test('the help lists all commands, and each command has its own help with examples', async () => {
  const { code, out } = await run(['--help'])
  assert.equal(code, 0)
  const commands = [
    'demo',
    'operator',
    'platform',
    'check',
    'send',
    'reconcile',
    'attributes',
    'devices',
    'doctor',
    'stand-ins',
    'removals',
    'person',
    'migrate',
    'config',
    'keys',
    'tokens',
    'vapid',
    'init',
    'push',
    'completion',
    'alerts',
  ]
  const [options, words] = await Promise.all([
    Promise.all(commands.map((command) => run([command, '--help']))),
    Promise.all(commands.map((command) => run(['help', command]))),
  ])
  for (const [i, command] of commands.entries()) {
    assert.match(out, new RegExp(`^  ${command} `, 'm'))
    assert.equal(options[i]?.code, 0, command)
    assert.match(options[i]?.out ?? '', /Examples:\n {2}/, command)
    assert.equal(words[i]?.out, options[i]?.out)
  }
})

test('in bash, the script of completion completes commands, subcommands, options and their words', async () => {
  const { out } = await run(['completion', 'bash'])
  const complete = (line: string): string => {
    const words = `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1))`
    const script = `${out}\n${words}; _bellwire; echo \${COMPREPLY[@]}`
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim()
  }
  assert.equal(complete('bellwire rec'), 'reconcile')
  assert.equal(complete('bellwire failed rep'), 'replay')
  assert.equal(complete('bellwire send --chan'), '--channel')
  assert.equal(complete('bellwire send --channel pu'), 'push')
  assert.equal(complete('bellwire failed replay --y'), '--yes')
  assert.equal(complete('bellwire init pl'), 'platform')
})

test('an unknown command or option exits with 2 and a suggestion', async () => {
  const command = await run(['sennd'])
  assert.equal(command.code, 2)
  assert.match(command.err, /Did you mean send\?/)
  const sub = await run(['move-brand', '1', '--to', '2'])
  assert.deepEqual(
    [sub.code, sub.err],
    [2, "bellwire: unknown command 'move-brand'. Did you mean bellwire platform move-brand?\n"],
  )
  const several = await run(['replay'])
  assert.match(several.err, /Did you mean bellwire failed replay\?\n$/)
  const option = await run(['send', '--file', 'x', '--chanel', 'push'])
  assert.equal(option.code, 2)
  assert.match(option.err, /Did you mean --channel\?/)
  const missing = await run(['send'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /--file.*not specified\n\(see bellwire send --help\)/)
  const time = await run(['send', '--file', 'x', '--timeout', '5'])
  assert.equal(time.code, 2)
  assert.match(time.err, /Add the unit/)
})

test('the configuration is checked, and printed without secrets as JSON', async () => {
  const check = await run(['config', '--check', '-c', example])
  assert.deepEqual([check.code, check.out], [0, 'The configuration is valid.\n'])
  const print = await run(['config', '-c', example, '--json'], { BELLWIRE_OPERATOR_PORT: '8080' })
  const shown = JSON.parse(print.out) as { operator: { port: number }; platform: { lanes: object[] } }
  assert.equal(shown.operator.port, 8080)
  assert.equal(shown.platform.lanes.length, 3)
  assert.doesNotMatch(print.out, /example-(operator|platform|secret)/)
})

test('an empty configuration is refused', async () => {
  const { code, err } = await run(['config', '--check', '-c', '/dev/null'])
  assert.equal(code, 2)
  assert.match(err, /no section operator or platform is configured/)
})

test('--version prints the version of the package', async () => {
  const { out } = await run(['--version'])
  assert.match(out, /^\d+\.\d+\.\d+\n$/)
  assert.equal((await run(['-v'])).out, out)
})

test('without a command the help is printed; a command without its subcommand is wrong usage', async () => {
  const alone = await run([])
  assert.deepEqual([alone.code, alone.err], [0, ''])
  assert.equal(alone.out, (await run(['--help'])).out)
  assert.match(alone.out, /NO_COLOR=1/)
  const group = await run(['devices'])
  assert.deepEqual([group.code, group.out], [2, ''])
  assert.match(group.err, /^Usage: bellwire devices/)
})

test('a time option without a unit is refused', async () => {
  const lines = [
    ['doctor', '--timeout', '5'],
    ['send', '--file', 'x', '--timeout', '5'],
    ['send', '--file', 'x', '--patience', '5'],
    ['reconcile', '--brand', '1', '--field', 'blocked', '--timeout', '5'],
    ['attributes', 'import', '--brand', '1', '--file', 'x', '--patience', '5'],
    ['devices', 'list', '--brand', '1', '--user', 'x', '--patience', '5'],
    ['removals', 'list', '--patience', '5'],
    ['person', 'erase', '--brand', '1', '--user', 'x', '--patience', '5'],
    ['removals', 'confirm', 'fcm', '--for', '5'],
  ]
  for (const [i, { code, err }] of (await Promise.all(lines.map((line) => run(line)))).entries()) {
    assert.equal(code, 2, lines[i]?.join(' '))
    assert.match(err, /Add the unit: 5s, 5min or 5h\./, lines[i]?.join(' '))
  }
})

test('each subcommand has its own help', async () => {
  const { code, out } = await run(['removals', 'confirm', '--help'])
  assert.equal(code, 0)
  assert.match(out, /^Usage: bellwire removals confirm \[options\] <service>/)
  assert.match(out, /--for <time>/)
  const wrong = await run(['removals', 'confirm'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /\(see bellwire removals confirm --help\)/)
})

test('each command of docs/on-call.md has the options that it needs', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/on-call.md'), 'utf8')
  const commands = new Set([...page.matchAll(/^Type: `bellwire (.+)`$/gm)].map(([, command = '']) => command))
  assert.ok(commands.size > 5)
  for (const command of commands) {
    const { out, err } = await run([...command.split(' '), '--config', '/nowhere/bellwire.yaml'])
    assert.match(out + err, /nowhere\/bellwire\.yaml.* cannot be read/, command)
  }
})

test('config --check finds modules and files that cannot be loaded', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  await writeFile(join(folder, 'broken.ts'), 'export const provider = {}; throw new Error("boom")')
  await writeFile(
    join(folder, 'open.ts'),
    'setInterval(() => {}, 1000); export const provider = { name: "open", max: 1, send: async () => [] }',
  )
  await writeFile(
    file,
    `operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1]}]
  attributes: [{file: ./nowhere.csv}]
  site: {module: ./open.ts}
platform:
  lanes: [{brand: 1, channel: push, to: {module: ./broken.ts}}]
`,
  )
  const { code, out, err } = await run(['config', '--check', '-c', file])
  assert.deepEqual([code, out], [2, ''])
  assert.match(err, /^The configuration has 2 problems:/)
  assert.match(
    err,
    /operator\.attributes\[0\]\.file: the file \S+nowhere\.csv does not exist\n {4}write the path of a CSV or NDJSON file/,
  )
  assert.match(err, /broken\.ts {2}platform\.lanes\[0\]\.to\.module: cannot be imported: boom/)
  assert.equal((await run(['config', '--print', '-c', file])).code, 0, '--print does not load modules')
})

// A comparison of all pairs of settings took five minutes for 2,000 lanes.
test('config --check reads 4,000 lanes and 4,000 keys', { timeout: 30_000 }, async (t) => {
  const file = join(await temporary(t), 'bellwire.json')
  const each = <Item>(item: (n: number) => Item): readonly Item[] =>
    Array.from({ length: 4_000 }, (_, i) => item(i + 1))
  const lanes = each((n) => ({
    brand: n,
    channel: 'push',
    to: { provider: 'operator-api', url: 'http://127.0.0.1:7001', api_key: `key-of-operator-${n}-0000000` },
  }))
  const keys = each((n) => ({ name: `crm ${n}`, key: `key-of-crm-${n}-0000000000000`, scopes: ['enqueue'] }))
  await writeFile(file, JSON.stringify({ platform: { keys, lanes } }))
  // A process of its own: it is killed when the time is over.
  const { code, err } = await start(t, ['config', '--check', '-c', file]).ended
  assert.deepEqual([code, err], [0, ''])
})
