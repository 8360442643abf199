import assert from 'node:assert/strict'
import { hash, randomBytes, randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { clearTextHost } from '../../src/base/runtime/address.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import type { ConfigError } from '../../src/sides/config/problem.ts'
import { isExampleKey } from '../../src/sides/config/risks.ts'
import { problemsOf } from './load-text.ts'

const operator = `
operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1]}]
  suppression: none
`
const platform = `
platform:
  keys: [{name: crm, key: platform-key-00000000001, scopes: [enqueue, counts]}]
`

test("the platform's key must not also be an admin key", async (t) => {
  const [problem] = await problemsOf(
    t,
    `${operator}  admin_keys: [{name: office, key: operator-key-000000000001, scopes: [decide]}]`,
  )
  assert.equal(problem?.path, 'operator.admin_keys[0].key')
  assert.match(problem.description, /is the same as operator\.keys\[0\]\.key/)
  assert.match(problem.remedy ?? '', /make another .* accept_risks: \[shared_keys\]/)
  assert.doesNotMatch(JSON.stringify(problem), /operator-key-/)
})

test('one file may configure both ends of the look at the other side', async (t) => {
  const other = (url: string, key: string) => `  console: {other_side: {url: "${url}", api_key: ${key}}}\n`
  const both = [
    `${operator}  admin_keys: [{name: look, key: a-key-for-the-operator-01, scopes: [read]}]\n`,
    other('http://127.0.0.1:7102', 'platform-key-00000000001'),
    platform,
    other('http://127.0.0.1:7101', 'a-key-for-the-operator-01'),
  ]
  assert.deepEqual(await problemsOf(t, both.join('')), [])
})

test('an admin key must not also be a publish key, an app secret, a key of the platform or a password', async (t) => {
  const key = 'one-key-for-everything-0000000001'
  const admin = `${operator}  admin_keys: [{name: office, key: ${key}, scopes: [decide]}]\n`
  for (const [path, yaml] of Object.entries({
    'operator.app.secrets[0]': `${admin}  app: {secrets: [${key}]}`,
    'operator.publish[0].to.api_key': `${admin}  publish: [{brand: 1, to: {rest: "https://p.example", api_key: ${key}}}]`,
    'operator.attributes[0].auth.bearer': `${admin}  attributes: [{http: "https://a.example", fields: [blocked], auth: {bearer: ${key}}}]`,
    'platform.keys[0].key': admin + platform.replace('platform-key-00000000001', key),
    'platform.lanes[0].to.api_key': `${admin}platform:\n  lanes: [{brand: 1, channel: push, to: {url: "https://o.example", provider: operator-api, api_key: ${key}}}]`,
  }))
    assert.deepEqual(await pathsOf(t, yaml), [path])
})

test('a key and the SHA-256 of the same key with another purpose are refused', async (t) => {
  const digest = hash('sha256', 'one-key-for-everything-0000000001')
  const admin = `${operator}  admin_keys: [{name: office, key: one-key-for-everything-0000000001, scopes: [decide]}]\n`
  const crm = platform.replace('key: platform-key-00000000001', `key_sha256: ${digest}`)
  assert.deepEqual(await pathsOf(t, admin + crm), ['platform.keys[0].key_sha256'])
})

test('if one file configures both sides, both may name the key of their connection', async (t) => {
  const lane = `  lanes: [{brand: 1, channel: push, to: {url: "https://o.example", provider: operator-api, api_key: operator-key-000000000001}}]
  reconciliation: [{brand: 1, url: "https://o.example", api_key: operator-key-000000000001, fields: [blocked]}]
`
  const publish = `  publish: [{brand: 1, to: {rest: "https://p.example", api_key: link-key-0000000000001}}]\n`
  const links = platform.replace(
    ']}]',
    ']}, {name: operator, key: link-key-0000000000001, scopes: [devices], brands: [1]}]',
  )
  assert.deepEqual(await pathsOf(t, operator + publish + links + lane), [])
})

test('an example key is refused if other machines can reach the API', async () => {
  const example = join(import.meta.dirname, '../../examples/bellwire.yaml')
  await loadConfig(example, {})
  await assert.rejects(
    loadConfig(example, { BELLWIRE_OPERATOR_HOST: '0.0.0.0', BELLWIRE_PLATFORM_HOST: '10.0.0.7' }),
    (error: ConfigError) => {
      assert.deepEqual(error.problems.map(({ path }) => path).sort(), [
        'operator.admin_keys[0].key',
        'operator.admin_keys[1].key',
        'operator.app.secrets[0]',
        'operator.keys[0].key',
        'operator.keys[1].key',
        'platform.keys[0].key',
        'platform.keys[1].key',
      ])
      return true
    },
  )
})

test('administration on an address that other machines reach is refused, unless it has an address of its own', async (t) => {
  const both = operator + platform
  const admin = '{host: 127.0.0.1}'
  const publicHosts = both.replaceAll('  keys:', '  host: 0.0.0.0\n  keys:')
  const problems = await problemsOf(t, publicHosts)
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['operator.host', 'platform.host'],
  )
  assert.match(problems[0]?.description ?? '', /0\.0\.0\.0 .*\/admin, and \/metrics without a key/)
  assert.match(problems[0]?.remedy ?? '', /add admin: .* accept_risks: \[admin_on_public_address\]/)
  assert.deepEqual(await pathsOf(t, `accept_risks: [admin_on_public_address]\n${publicHosts}`), [])
  assert.deepEqual(await pathsOf(t, publicHosts.replaceAll('  keys:', `  admin: ${admin}\n  keys:`)), [])
  for (const host of ['127.0.0.1', 'localhost', '"::1"'])
    assert.deepEqual(await pathsOf(t, both.replaceAll('  keys:', `  host: ${host}\n  keys:`)), [])
})

test('every key in the docs and examples is recognized as an example key', () => {
  const root = join(import.meta.dirname, '../..')
  const files = globSync(['README.md', 'docs/**/*.md', 'examples/**/*.yaml', 'src/tools/cli/stand-ins/*.ts'], {
    cwd: root,
  })
  const keys = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const written = text.matchAll(/(?:\bkey|X-Api-Key|secrets|platform|service): \[?['"]?([\w-]{16,})/g)
    return [...written].map(([, key]) => key as string).filter((key) => !key.startsWith('AuthKey_')) // a file of Apple's
  })
  assert.ok(keys.length > 10)
  assert.deepEqual(
    keys.filter((key) => !isExampleKey(key)),
    [],
  )
})

test('a key that repeats itself or counts up is refused, whatever its length', async (t) => {
  for (const key of ['a'.repeat(40), 'abcabcabcabcabcabc', '12121212121212121212', 'password!password!'])
    assert.deepEqual(await pathsOf(t, operator.replace('operator-key-000000000001', `"${key}"`)), [
      'operator.keys[0].key',
    ])
  for (const key of ['1234567890123456', 'abcdefghijklmnopq', 'passwordpassword1', 'changemechangeme!'])
    assert.deepEqual(await pathsOf(t, operator.replace('operator-key-000000000001', `"${key}"`)), [
      'operator.keys[0].key',
    ])
  assert.deepEqual(await pathsOf(t, `${operator}  app: {secrets: ["${'a'.repeat(32)}"]}`), ['operator.app.secrets[0]'])
  const receipts = (secret: string): string =>
    `${operator}  status: {receipts_from: [{name: a, secret: "${secret}", rules: [{at: /a, equals: b, status: opened}]}]}`
  const secretPath = 'operator.status.receipts_from[0].secret'
  assert.deepEqual(await pathsOf(t, receipts('Bearer 1234567890123456')), [secretPath])
  const [short] = await problemsOf(t, receipts('a'))
  assert.deepEqual([short?.path, short?.remedy], [secretPath, undefined])
  const webhook = (bytes: Buffer): string =>
    `${operator}  status: {webhooks: [{brand: 1, to: {webhook: "https://p.example", secrets: [whsec_${bytes.toString('base64')}]}}]}`
  assert.deepEqual(await pathsOf(t, webhook(Buffer.alloc(32))), ['operator.status.webhooks[0].to.secrets[0]'])
  assert.deepEqual(await pathsOf(t, webhook(randomBytes(32))), [])
})

test('random keys of every usual form are accepted', async (t) => {
  const random = (encoding: 'hex' | 'base64url') => randomBytes(24).toString(encoding)
  const keys = Array.from({ length: 200 }, () => [random('hex'), random('base64url'), randomUUID()]).flat()
  const listed = keys.map((key, i) => `{name: k${i}, key: "${key}", brands: [1]}`).join(', ')
  assert.deepEqual(await pathsOf(t, operator.replace(/keys: .*/, `keys: [${listed}]`)), [])
})

test('sending credentials to another machine without TLS is refused', async (t) => {
  const service = (settings: string): string => `  push: {devices: {services: [${settings}]}}`
  const attributes = (source: string): string => `  attributes: [${source}]`
  const publish = (to: string): string => `  publish: [{brand: 1, to: ${to}}]`
  for (const [path, [clear, encrypted]] of Object.entries<readonly [string, string]>({
    'operator.store': [
      '  store: postgres://u:p@db.internal/x',
      '  store: postgres://u:p@db.internal/x?sslmode=verify-full',
    ],
    // A second address of the same setting.
    'operator.store ': [
      '  store: postgres://u:p@db.internal/x?sslmode=no-verify',
      '  store: postgres://u:p@db.internal/x?sslmode=require',
    ],
    'operator.status.receipts': [
      '  app: {secrets: [the-secret-of-the-config-tests-long-enough]}\n  status: {receipts: "http://push.example"}',
      '  app: {secrets: [the-secret-of-the-config-tests-long-enough]}\n  status: {receipts: "https://push.example"}',
    ],
    'operator.attributes[0].sql': [
      attributes('{sql: "postgres://u:p@db/x", queries: {blocked: select 1}}'),
      attributes('{sql: "postgres://u:p@db/x?ssl=true", queries: {blocked: select 1}}'),
    ],
    'operator.attributes[0].http': [
      attributes('{http: "http://users.internal", fields: [blocked], auth: {bearer: t}}'),
      attributes('{http: "https://users.internal", fields: [blocked], auth: {bearer: t}}'),
    ],
    'operator.publish[0].to.rest': [
      publish('{rest: "http://p.example", api_key: some-key}'),
      publish('{rest: "https://p.example", api_key: some-key}'),
    ],
    'operator.publish[0].to.amqp': [publish('{amqp: "amqp://u:p@broker"}'), publish('{amqp: "amqps://u:p@broker"}')],
    'operator.publish[0].to.kafka[0]': [
      publish('{kafka: ["broker:9092"], username: u, password: p}'),
      publish('{kafka: ["broker:9092"], username: u, password: p, tls: true}'),
    ],
    'operator.push.url': [
      '  push: {provider: http, url: "http://push.internal/", auth: {bearer: t}, body: {a: "{{body}}"}}',
      '  push: {provider: http, url: "http://push.internal/", auth: none, body: {a: "{{body}}"}}',
    ],
    'operator.push.auth.oauth2': [
      '  push: {provider: http, url: "https://p.example", auth: {oauth2: "http://token.internal/", client_id: c, client_secret: s}, body: {a: "{{body}}"}}',
      '  push: {provider: http, url: "https://p.example", auth: {oauth2: "https://token.internal/", client_id: c, client_secret: s}, body: {a: "{{body}}"}}',
    ],
    'operator.push.devices.source.http': [
      '  push: {devices: {services: [{module: a.ts}], source: {http: "http://d.internal", auth: {bearer: s}}}}',
      '  push: {devices: {services: [{module: a.ts}], source: {http: "http://d.internal"}}}',
    ],
    'operator.push.devices.services[0].testing.base_url': [
      service('{provider: fcm, credentials: a.json, testing: {base_url: "http://fcm.internal"}}'),
      service('{provider: fcm, credentials: a.json}'),
    ],
  })) {
    const suppressed = clear.includes('attributes') ? operator.replace('  suppression: none\n', '') : operator
    const [problem, ...more] = await problemsOf(t, `${suppressed}${clear}\n`)
    assert.equal(problem?.path, path.trimEnd())
    assert.deepEqual(more, [])
    assert.match(
      problem.remedy ?? '',
      /^(write (https|amqps|tls|sslmode=verify-full)|add \?sslmode).*accept_risks: \[clear_text_to_other_hosts\]/,
    )
    assert.deepEqual(await pathsOf(t, `${suppressed}${encrypted}\n`), [], path)
    const accepted = `accept_risks: [clear_text_to_other_hosts]\n${suppressed}${clear}\n`
    assert.deepEqual(await pathsOf(t, accepted), [], path)
  }
  const lane = (url: string): string =>
    `${platform}  lanes: [{brand: 1, channel: push, to: {provider: operator-api, url: "${url}", api_key: some-key}}]`
  assert.deepEqual(await pathsOf(t, lane('http://operator.example')), ['platform.lanes[0].to.url'])
  assert.deepEqual(await pathsOf(t, lane('https://operator.example')), [])
})

test('loopback addresses and sockets are this machine; hosts of a private network are not', () => {
  for (const here of [
    'http://127.0.0.1:7001/x',
    'http://[::1]:7001',
    'http://localhost',
    'localhost:9092',
    'sqlite:/srv/a.db',
    'postgres://u:p@localhost/x',
    'postgres:///x?host=/run/postgresql',
    'postgres://u:p@%2Frun%2Fpostgresql/x',
    'postgres:///x',
  ])
    assert.equal(clearTextHost(here, {}), undefined, here)
  for (const [there, host] of [
    ['http://10.0.0.1', '10.0.0.1'],
    ['http://127.evil.example', '127.evil.example'],
    ['amqp://db.internal', 'db.internal'],
    ['broker-1:9092', 'broker-1'],
    ['postgres://u:p@localhost/x?host=db', 'db'],
    ['postgres://u:p@db/x?sslmode=disable', 'db'],
  ] as const)
    assert.equal(clearTextHost(there, {}), host)
  assert.equal(clearTextHost('postgres:///x', { PGHOST: 'db' }), 'db')
  assert.equal(clearTextHost('postgres://u:p@db/x', { PGSSLMODE: 'require' }), undefined)
})

async function pathsOf(t: TestContext, yaml: string): Promise<string[]> {
  return (await problemsOf(t, yaml)).map(({ path }) => path)
}
