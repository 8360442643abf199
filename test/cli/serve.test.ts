import assert from 'node:assert/strict'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Summary } from '../../src/tools/cli/send/summary.ts'
import { freePort } from '../support/free-port.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { adminKey, element, post, startOperator, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import {
  addressesOf,
  bellwire,
  freePlatformPorts,
  freePorts,
  run,
  type Started,
  start,
  startProgram,
} from './bellwire.ts'

const examples = join(import.meta.dirname, '../../examples')

const secrets = [
  'example-operator-key-1',
  'example-operator-key-2',
  'example-operator-admin-key',
  'example-secret-of',
  'example-platform-key',
]

test('both sides run with the example configuration, and the example file is delivered', async (t) => {
  const folder = await temporary(t)
  for (const file of ['bellwire.yaml', 'users.csv']) await copyFile(join(examples, file), join(folder, file))
  const config = join(folder, 'bellwire.yaml')
  const operator = start(t, ['operator'], { BELLWIRE_CONFIG: config, ...freePorts })
  const { url: operatorUrl, admin: operatorAdmin } = await addressesOf(operator)
  const lanes = Object.fromEntries([0, 1, 2].map((i) => [`BELLWIRE_PLATFORM_LANES_${i}_TO_URL`, operatorUrl]))
  const platform = start(t, ['platform', '--config', config], { ...freePlatformPorts, ...lanes })
  const { url: platformUrl, admin: platformAdmin } = await addressesOf(platform)

  const file = join(examples, 'activities.ndjson')
  const { code, out, err } = await run(['send', '-c', config, '--url', platformAdmin, '--file', file, '--json'])
  assert.equal(code, 0, `${out}${err}`)
  assert.equal((JSON.parse(out) as Summary).successful, 4)
  const pushed = (await readFile(join(folder, 'data/pushed.ndjson'), 'utf8')).trim().split('\n')
  assert.equal(pushed.length, 4)

  for (const url of [operatorUrl, operatorAdmin, platformUrl, platformAdmin])
    for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(url + path)).status, 200, url + path)
  for (const path of ['/metrics', '/admin/summary', '/docs', '/openapi.json', '/asyncapi.json'])
    for (const url of [operatorUrl, platformUrl]) assert.equal((await fetch(url + path)).status, 404, url + path)
  const metrics = await (await fetch(`${operatorAdmin}/metrics`)).text()
  assert.match(metrics, /bellwire_attempts_total\{channel="push",category="successful"\} 4/)

  const attempts: string[][] = []
  for (const [side, { child, ended }, attempt, described] of [
    ['platform', platform, 'item.settled', { lanes: 3, device_links: 0, intake: 0 }],
    ['operator', operator, 'message.settled', { lanes: 0, push_services: 'recording' }],
  ] as const) {
    child.kill('SIGTERM')
    const { code, out, err } = await ended
    assert.equal(code, 0, err)
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const { level, time: _, ...starting } = lines[0]
    assert.equal(level, 'info')
    assert.deepEqual(starting, {
      event: 'server.starting',
      side,
      store: `sqlite:${join(folder, `data/${side}.db`)}`,
      brands: '1, 2',
      channels: 'push, site',
      ...described,
      msg: 'starting',
    })
    const settled = lines.filter(({ event }) => event === attempt)
    assert.equal(settled.length, 4)
    attempts.push(settled.map(({ id, ref }) => `${id} ${ref}`).toSorted())
    for (const secret of secrets) assert.ok(!out.includes(secret) && !err.includes(secret), `${secret} is in the log`)
  }
  const [atPlatform, atOperator] = attempts
  assert.deepEqual(atPlatform, atOperator, 'the lines of an attempt can be joined')
  for (const each of atPlatform ?? []) assert.match(each, /^\S+ [\da-f]{8}-\S+$/)
})

test('a side whose log is on a full disk serves, and ends at SIGTERM', async (t) => {
  const folder = await temporary(t)
  await copyFile(join(examples, 'bellwire.yaml'), join(folder, 'bellwire.yaml'))
  const [port, admin] = [await freePort(), await freePort()]
  const command = [...bellwire, 'platform', '-c', join(folder, 'bellwire.yaml')]
  const ports = { BELLWIRE_PLATFORM_PORT: String(port), BELLWIRE_PLATFORM_ADMIN_PORT: String(admin) }
  const { child, ended } = startProgram(t, ['sh', '-c', `exec "$@" > /dev/full`, 'sh', ...command], ports)
  const healthy = async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.status === 200
  await until(healthy, { awaited: 'the platform serves', withinMs: 30_000 })
  child.kill('SIGTERM')
  assert.deepEqual(await ended, { code: 0, out: '', err: '' })
})

test("the user's modules deliver and suppress messages", async (t) => {
  const folder = await temporary(t)
  const operator = start(t, ['operator', '-c', join(examples, 'modules.yaml')], {
    BELLWIRE_OPERATOR_STORE: `sqlite:${join(folder, 'modules.db')}`,
    ...freePorts,
  })
  const url = await listening(operator)
  const send = (brand: number) =>
    post(`${url}/channels/push/single`, element({ brand_id: brand, user_id: '1002' }), 'example-operator-key-1')
  assert.equal((await send(1)).status, 422)
  assert.equal((await send(2)).status, 200)
  await operator.line(/^to 1002 of brand 2: Hello$/)
})

test('a stop ends within the grace period even if a provider never answers', async (t) => {
  const config = await minimal(t)
  const module = join(config, '../hangs.ts')
  await writeFile(
    module,
    `export const provider = { name: 'hangs', max: 1, send: () => { console.log('called'); return new Promise(() => setInterval(() => {}, 1000)) } }`,
  )
  const operator = start(t, ['operator', '-c', config], {
    BELLWIRE_OPERATOR_PUSH: `{module: ${module}}`,
    BELLWIRE_OPERATOR_STOP_WITHIN: '100ms',
    BELLWIRE_LOG_LEVEL: 'info',
  })
  const url = await listening(operator)
  const answer = post(`${url}/channels/push/single`, element(), 'operator-key-000000000001').then(
    ({ status }) => status,
    () => 'cut',
  )
  await operator.line(/^called$/)
  operator.child.kill('SIGTERM')
  const { code, err } = await operator.ended
  assert.equal(code, 1, err)
  assert.match(err, /operator\.stop_within/)
  assert.ok([503, 'cut'].includes(await answer))
})

for (const [origin, fault] of [
  ['a promise that is not awaited', `setTimeout(() => Promise.reject(new Error('the cache of the user broke')))`],
  ['a timer', `setTimeout(() => { throw new Error('the cache of the user broke') })`],
] as const) {
  test(`an error in ${origin} of a user's module is logged with its stack, and the process stops gracefully with 1`, async (t) => {
    const config = await minimal(t)
    const module = join(config, '../breaks.ts')
    await writeFile(
      module,
      `export const provider = {
        name: 'breaks', max: 1, close: () => console.log('closed'),
        send: async () => { ${fault}; return [{ category: 'successful', ref: 'r', rule: 'r' }] } }`,
    )
    const operator = start(t, ['operator', '-c', config], {
      BELLWIRE_OPERATOR_PUSH: `{module: ${module}}`,
      BELLWIRE_LOG_LEVEL: 'info',
    })
    const url = await listening(operator)
    await post(`${url}/channels/push/single`, element(), 'operator-key-000000000001').catch(() => 'cut')
    const { code, out, err } = await operator.ended
    assert.deepEqual([code, err], [1, ''])
    const line = JSON.parse(out.split('\n').find((each) => each.includes('process.failed')) as string)
    assert.equal(line.level, 'error')
    assert.equal(line.error, 'the cache of the user broke')
    assert.match(line.stack, /breaks\.ts:\d+/)
    assert.match(out, /^closed$/m)
  })
}

test('an address that cannot be listened at causes exit code 2 and an error with the setting', async (t) => {
  const { port } = await listenLocally(t, createServer())
  const config = await minimal(t)
  const publicAddress = { BELLWIRE_OPERATOR_HOST: '192.0.2.1', BELLWIRE_ACCEPT_RISKS: '[admin_on_public_address]' }
  for (const [env, error] of [
    [{ BELLWIRE_OPERATOR_PORT: String(port) }, `operator\\.port: port ${port} .*in use`],
    [{ BELLWIRE_OPERATOR_ADMIN: `{port: ${port}}` }, `operator\\.admin\\.port: port ${port} .*in use`],
    [publicAddress, 'operator\\.host: 192\\.0\\.2\\.1 .*0\\.0\\.0\\.0 for all'],
  ] as const) {
    const { code, out, err } = await run(['operator', '-c', config], env)
    assert.equal(code, 2, error)
    assert.match(err, new RegExp(`^bellwire: ${error}`))
    assert.doesNotMatch(out, /stopping/, 'no stop is logged if the side never listened')
  }
})

test('an unreachable database causes exit code 3; neither the error nor the text of the log has its password', async (t) => {
  const config = await minimal(t)
  const { code, out, err } = await run(['operator', '-c', config], {
    BELLWIRE_OPERATOR_STORE: 'postgres://bell:canary@127.0.0.1:1/bell',
    BELLWIRE_LOG_FORMAT: 'text',
  })
  assert.equal(code, 3, err)
  assert.match(err, /127\.0\.0\.1:1/)
  assert.match(out, /info +starting +side=operator store=postgres:\/\/bell:\*+@127\.0\.0\.1:1\/bell brands=/)
  assert.doesNotMatch(out + err, /canary/)
})

test('commands call the admin address if one is configured', async (t) => {
  const { url } = await startOperator(t)
  const env = {
    BELLWIRE_OPERATOR_ADMIN: `{port: ${new URL(url).port}}`,
    BELLWIRE_OPERATOR_ADMIN_KEYS: `[{name: back office, key: ${adminKey.key}, scopes: [counts, read]}]`,
  }
  const list = ['devices', 'list', '-c', await minimal(t), '--brand', '1', '--user', '1001']
  const { code, out, err } = await run(list, env)
  assert.equal(code, 0, out + err)
})

test('a store that another process has open causes exit code 3 immediately', async (t) => {
  const store = `sqlite:${join(await temporary(t), 'operator.db')}`
  await startOperator(t, { store })
  for (const command of ['operator', 'migrate']) {
    const { code, err } = await run([command, '-c', await minimal(t)], { BELLWIRE_OPERATOR_STORE: store })
    assert.equal(code, 3, err)
    assert.match(err, /operator\.store: .*another process/)
  }
})

test('a store that cannot be opened causes exit code 3 and an error with the setting, cause and remedy', async (t) => {
  const config = await minimal(t)
  for (const command of ['operator', 'migrate']) {
    const { code, err } = await run([command, '-c', config], { BELLWIRE_OPERATOR_STORE: `sqlite:${config}` })
    assert.equal(code, 3, err)
    assert.match(err, /^bellwire: operator\.store: .*bellwire\.yaml is not a SQLite database: name another file.*\n$/)
  }
})

test('a missing section and an invalid one cause exit code 2', async (t) => {
  const config = await minimal(t)
  const missing = await run(['platform', '-c', config])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /bellwire\.yaml has no section platform\. For an example see (\S+)\n$/)
  const [, example = ''] = /For an example see (\S+)/.exec(missing.err) ?? []
  assert.match(await readFile(example, 'utf8'), /^platform:$/m)
  const wrong = await run(['operator', '-c', config], { BELLWIRE_OPERATOR_PROT: '1' })
  assert.equal(wrong.code, 2)
  assert.match(
    wrong.err,
    /^The configuration has a problem:\nBELLWIRE_OPERATOR_PROT: .*\n +did you mean BELLWIRE_OPERATOR_PORT\?\n$/,
  )
})

test('migrate lists the applied migrations; a second run applies none', async (t) => {
  const config = await minimal(t)
  const first = await run(['migrate', '-c', config, '--json'])
  assert.equal(first.code, 0, first.err)
  assert.ok((JSON.parse(first.out) as { operator: string[] }).operator.length > 0)
  const second = await run(['migrate', '-c', config])
  assert.equal(second.out, 'operator: up to date\n')
})

async function listening(started: Started): Promise<string> {
  return (JSON.parse(await started.line(/"server\.listening"/)) as { url: string }).url
}

/** An operator on a free port. */
async function minimal(t: TestContext): Promise<string> {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(
    file,
    `operator:
  port: 0
  keys: [{name: platform, key: operator-key-000000000001, brands: [1, 2]}]
  push: recording
  suppression: none
`,
  )
  return file
}
