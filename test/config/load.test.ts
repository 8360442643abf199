import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { refuseFile } from '../../src/sides/config/compose/services/files.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import { printConfig, secretsOf } from '../../src/sides/config/print.ts'
import { temporary } from '../support/sides.ts'
import { loadText, refused } from './load-text.ts'

const complete = `
operator:
  port: 7101
  keys:
    - {name: platform, key: operator-key-000000000001, brands: [1, 9223372036854775807]}
  suppression: none
platform:
  keys:
    - {name: crm, key: platform-key-00000000001, scopes: [enqueue, counts]}
  lanes:
    - brand: 1
      channel: push
      to: {provider: operator-api, url: "https://operator.example/api/", api_key: operator-key-000000000001}
    - {brand: 2, channel: push, to: {module: ./mine.ts}}
`

test('a configuration is read with its defaults, in milliseconds and bytes, and is frozen', async (t) => {
  const { operator, platform, log } = await loadText(t, complete)
  assert.equal(operator?.port, 7101)
  assert.equal(operator.host, '127.0.0.1')
  assert.equal(operator.limits.bodyBytes, 16 * 1024 * 1024)
  assert.equal(operator.limits.answerBudgetMs, 20_000)
  assert.deepEqual(operator.suppression, { is: 'none' })
  assert.equal(operator.push, undefined)
  assert.equal(platform?.lanes[0]?.retry.mostMs, 300_000)
  assert.equal(log.level, 'info')
  assert.throws(() => Object.assign(operator.limits, { body: 1 }), TypeError)
})

test('a brand keeps all its digits', async (t) => {
  const { operator } = await loadText(t, complete)
  assert.deepEqual(operator?.keys[0]?.brands, ['1', '9223372036854775807'])
})

test('paths are relative to the folder of the file', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  await writeFile(file, complete)
  const { operator, platform } = await loadConfig(file, {})
  assert.equal(operator?.store, `sqlite:${join(folder, 'operator.db')}`)
  const to = platform?.lanes[1]?.to
  assert.equal(to?.is === 'module' && to.module, join(folder, 'mine.ts'))
})

test('all problems are reported at once, each with its line, the expected value and the remedy', async (t) => {
  const problems = await refused(
    t,
    `operator:
  port: 70000
  keys: [{name: platform, key: short, brands: [-1]}]
  limits: {body: 16}
platform:
  keys: []
  lanes:
    - {brand: 1, channel: mail, to: carrier-pigeon}
`,
  )
  assert.deepEqual(
    problems.map(({ where, path }) => `${where} ${path}`),
    [
      'bellwire.yaml:2 operator.port',
      'bellwire.yaml:3 operator.keys[0].key',
      'bellwire.yaml:3 operator.keys[0].brands[0]',
      'bellwire.yaml:4 operator.limits.body',
      'bellwire.yaml:8 platform.lanes[0].channel',
      'bellwire.yaml:8 platform.lanes[0].to',
    ],
  )
  assert.match(problems[0]?.description ?? '', /whole number from 0 to 65535, found "70000"/)
  assert.match(problems[1]?.remedy ?? '', /openssl/)
})

test('an invalid secret is not printed in the error', async (t) => {
  const problems = await refused(t, complete.replace('platform-key-00000000001', 'canary canary'))
  assert.equal(problems.length, 1)
  assert.doesNotMatch(JSON.stringify(problems), /canary/)
})

test('an unknown setting is refused with a suggestion, or with the list of settings', async (t) => {
  const problems = await refused(t, complete.replace('port: 7101', 'prot: 7101\n  something_else: 1'))
  assert.match(problems[0]?.remedy ?? '', /did you mean port\?/)
  assert.match(problems[1]?.remedy ?? '', /known settings: host, port/)
})

test('invalid YAML is refused with its line', async (t) => {
  const [problem] = await refused(t, 'operator:\n  port: [1\nplatform: {}\n')
  assert.match(problem?.where ?? '', /^bellwire\.yaml:[23]$/)
  const [duplicate] = await refused(t, `${complete}\nlog: {level: info}\nlog: {level: warn}\n`)
  assert.match(duplicate?.description ?? '', /unique/i)
})

test('${NAME} takes the value of the environment variable, in a part of a text too, and $${ is a literal ${', async (t) => {
  const written = complete
    .replace('operator-key-000000000001, brands', '"${OPERATOR_KEY}", brands')
    .replace('https://operator.example/api/', () => 'https://${HOST}/${HOST}/$${literal}')
  const { operator, platform } = await loadText(t, written, {
    OPERATOR_KEY: 'key-of-the-environment-1',
    HOST: 'operator.example',
  })
  assert.equal(operator?.keys[0]?.key, 'key-of-the-environment-1')
  const to = platform?.lanes[0]?.to
  assert.equal(to?.is === 'operator-api' && to.url, 'https://operator.example/operator.example/${literal}')
})

test('a variable that is not set is an error with its line: a placeholder never becomes a secret', async (t) => {
  const unset = complete.replace('operator-key-000000000001, brands', '"${OPERATOR_KEY}", brands')
  for (const env of [{}, { OPERATOR_KEY: '' }]) {
    const [problem] = await refused(t, unset, env)
    assert.equal(problem?.where, 'bellwire.yaml:5')
    assert.equal(problem.description, 'the environment variable OPERATOR_KEY is not set')
    assert.equal(problem.remedy, 'set OPERATOR_KEY, or write $${OPERATOR_KEY} for the literal text')
  }
  for (const wrong of ['${}', '${OPERATOR-KEY}', '${OPERATOR_KEY', '${ OPERATOR_KEY }'])
    assert.match(
      (await refused(t, unset.replace('${OPERATOR_KEY}', wrong)))[0]?.description ?? '',
      /not followed by the name/,
    )
})

test('${file:PATH} takes the content of the file, relative to the configuration; a file without content is an error', async (t) => {
  const folder = await temporary(t)
  await writeFile(join(folder, 'key'), 'key-of-the-file-00000001\n')
  await writeFile(join(folder, 'empty'), '\n')
  const named = (path: string): string =>
    complete.replace('operator-key-000000000001, brands', `"\${file:${path}}", brands`)
  assert.equal((await loadText(t, named(join(folder, 'key')))).operator?.keys[0]?.key, 'key-of-the-file-00000001')
  const [empty] = await refused(t, named(join(folder, 'empty')))
  assert.match(empty?.description ?? '', /^the file .*empty is empty$/)
  const [absent] = await refused(t, named('keys/absent'))
  assert.equal(absent?.where, 'bellwire.yaml:5')
  assert.match(absent.description, /^the file \/.*\/keys\/absent cannot be read: ENOENT/)
})

test('an unquoted ${NAME} in a list is one error, which says that it needs quotes', async (t) => {
  const problems = await refused(t, complete.replace('operator-key-000000000001, brands', '${OPERATOR_KEY}, brands'))
  assert.equal(problems.length, 1)
  assert.equal(problems[0]?.where, 'bellwire.yaml:5')
  assert.equal(problems[0]?.remedy, 'write "${NAME}" in quotes')
})

test('a named file that does not exist is refused; without a file the environment may contain the configuration', async () => {
  await assert.rejects(loadConfig('/nowhere/bellwire.yaml', {}), /--config/)
  const config = await loadConfig(undefined, { BELLWIRE_LOG_LEVEL: 'warn' })
  assert.equal(config.log.level, 'warn')
})

test('the remedy for a file without read permission is the permission', () => {
  const denied = Object.assign(new Error('permission denied'), { code: 'EACCES' })
  assert.throws(() => refuseFile('/etc/bellwire/key.pem', denied, 'operator.tls.key', 'write the path of a PEM file'), {
    message:
      /^operator\.tls\.key: the file \/etc\/bellwire\/key\.pem cannot be read \(EACCES\)\n {4}.*let that user read it$/,
  })
})

test('settings that contradict each other are refused', async (t) => {
  const lane = '    - {brand: 1, channel: push, to: {module: ./other.ts}, retry: {first: 10min}}\n'
  const problems = await refused(
    t,
    `${complete}${lane}`.replace('platform:\n', 'platform:\n  port: 7101\n  store: sqlite:operator.db\n'),
  )
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['platform.port', 'platform.store', 'platform.lanes[2]', 'platform.lanes[2].retry'],
  )
})

test('all listening addresses of a configuration differ, including the addresses of the admin API', async (t) => {
  const both = complete
    .replace('port: 7101\n', 'port: 7101\n  admin: {port: 7101}\n')
    .replace('platform:\n', 'platform:\n  admin: {host: 127.0.0.1, port: 7101}\n')
  const problems = await refused(t, both)
  assert.deepEqual(
    problems.map(({ path, description }) => `${path} ${description}`),
    ['operator.admin.port is the same as operator.port', 'platform.admin.port is the same as operator.port'],
  )
  const free = complete.replace('port: 7101\n', 'port: 0\n  admin: {port: 0}\n')
  assert.deepEqual((await loadText(t, free)).operator?.admin, { host: '127.0.0.1', port: 0 })
})

test('each brand needs an attribute source, unless suppression: none is written', async (t) => {
  const [uncovered] = await refused(t, complete.replace('  suppression: none\n', ''))
  assert.equal(uncovered?.path, 'operator.attributes')
  assert.match(uncovered.remedy ?? '', /suppression: none to send to all users/)
  const withSources = (attributes: string): string =>
    complete.replace('  suppression: none\n', `  attributes: ${attributes}\n`)
  const [half] = await refused(t, withSources('[{file: users.csv, brands: [1]}]'))
  assert.match(half?.description ?? '', /no source covers brand 9223372036854775807/)
  const { operator } = await loadText(t, withSources('[{file: users.csv, brands: [1]}, {file: more.csv}]'))
  assert.equal(operator?.suppression, undefined)
  const [old] = await refused(t, complete.replace('suppression: none', 'suppression: {file: users.csv}'))
  assert.match(old?.remedy ?? '', /list sources under operator.attributes/)
})

test('a query that selects the same users for several brands is refused', async (t) => {
  const withQuery = (query: string, more = ''): string =>
    complete.replace(
      '  suppression: none\n',
      `  attributes:\n    - sql: postgres://reader@localhost/players\n      queries: {${query}}\n${more}`,
    )
  const [problem] = await refused(t, withQuery("blocked: select id from players where note = ':brand' -- :brand"))
  assert.equal(problem?.path, 'operator.attributes[0].queries.blocked')
  assert.match(problem.remedy ?? '', /compare the brand with :brand/)
  const [none] = await refused(t, withQuery(''))
  assert.match(none?.description ?? '', /has no query/)
  const { operator } = await loadText(
    t,
    withQuery('blocked: select id from players where brand_id = :brand and blocked'),
  )
  const [source] = operator?.attributes ?? []
  assert.equal(
    source?.is === 'sql' && source.queries.blocked,
    'select id from players where brand_id = :brand and blocked',
  )
  const alone = '      brands: [1]\n    - {file: users.csv, brands: [9223372036854775807]}\n'
  assert.equal((await loadText(t, withQuery('blocked: select id from players', alone))).operator?.attributes.length, 2)
})

test('a query that selects the same devices for several brands is refused', async (t) => {
  const withSource = (condition: string): string => {
    const query = `select user_id, token, kind from devices where user_id = any(:users)${condition}`
    const holders = `select user_id, token, kind from devices where token = any(:tokens)${condition}`
    const source = `{sql: "${query}", holders: "${holders}", database: "postgres://reader@localhost/players"}`
    const push = `{devices: {source: ${source}, services: [{provider: fcm, credentials: f.json}]}}`
    return complete.replace('  suppression: none\n', `  suppression: none\n  push: ${push}\n`)
  }
  const problems = await refused(t, withSource(" and note = ':brand'"))
  assert.deepEqual(
    problems.map(({ path, description }) => [path, description]),
    ['sql', 'holders'].map((name) => [
      `operator.push.devices.source.${name}`,
      'selects the same devices for every brand',
    ]),
  )
  assert.ok((await loadText(t, withSource(' and brand = :brand'))).operator)
})

test('a duplicate key is refused', async (t) => {
  const [problem] = await refused(
    t,
    complete.replace('  suppression', '    - {name: b, key: operator-key-000000000001, brands: [2]}\n  suppression'),
  )
  assert.match(problem?.description ?? '', /twice/)
})

test('the effective configuration is printed without secrets, in a form that can be loaded again', async (t) => {
  const config = await loadText(t, complete, { BELLWIRE_PLATFORM_STORE: 'postgres://bell:canary-pass@localhost/bell' })
  const printed = printConfig(config)
  assert.doesNotMatch(printed, /canary|operator-key|platform-key/)
  assert.match(printed, /postgres:\/\/bell:\*+@localhost\/bell/)
  assert.match(printed, /answer_budget: 20s/)
  let keys = 0
  const reloaded = await loadText(
    t,
    printed.replaceAll('"********"', () => `another-key-00000000000${++keys}`),
  )
  assert.equal(reloaded.operator?.limits.answerBudgetMs, 20_000)
  assert.deepEqual(reloaded.operator?.suppression, { is: 'none' })
  assert.equal(reloaded.platform?.lanes.length, 2)
})

test('credentials in addresses and in headers of a push provider are masked in print and in the log', async (t) => {
  const config = await loadText(
    t,
    `operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1]}]
  attributes:
    - {http: "https://users.example/a?brand=1&token=canary-1", fields: [blocked], brands: [1]}
    - {sql: "postgres://reader@localhost/x?password=canary-2", queries: {blocked: select 1}, brands: [1]}
  push:
    provider: http
    url: "https://push.example/send?apikey=canary-3&to={{user_id}}&key={{secret.push}}"
    secrets: [{name: push, value: canary-4}]
    headers: [{name: authorization, value: Basic canary-5}, {name: x-key, value: "{{secret.push}}"}]
    body: {text: "{{body}}", password: canary-9, token: "{{user_id}}"}
  publish: [{brand: 1, to: {amqp: "amqps://bell:canary-6@broker.example/"}}]
platform:
  lanes:
    - {brand: 1, channel: push, to: {provider: operator-api, url: "https://operator.example/api?key=canary-7", api_key: canary-8}}
`,
  )
  const printed = printConfig(config)
  assert.doesNotMatch(printed, /canary/)
  for (const shown of [
    'https://users.example/a?brand=1&token=********',
    'postgres://reader@localhost/x?password=********',
    'https://push.example/send?apikey=********&to={{user_id}}&key={{secret.push}}',
    'value: "{{secret.push}}"',
    'token: "{{user_id}}"',
    'amqps://bell:********@broker.example/',
    'https://operator.example/api?key=********',
  ])
    assert.ok(printed.includes(shown), `${shown} in ${printed}`)
  assert.deepEqual(
    secretsOf(config)
      .filter((secret) => secret.startsWith('canary'))
      .toSorted(),
    ['canary-1', 'canary-2', 'canary-3', 'canary-4', 'canary-6', 'canary-7', 'canary-8'],
  )
})

test('aliases of aliases are refused at once', async (t) => {
  const levels = Array.from({ length: 10 }, (_, n) => {
    const of = n === 0 ? 'x' : `*l${n - 1}`
    return `l${n}: &l${n} [${Array.from({ length: 10 }, () => of).join(', ')}]`
  })
  const problems = await refused(t, levels.join('\n'))
  assert.ok(problems.some(({ description }) => description === 'more than 100 aliases'))
})

test('a part of an address that would be dropped is refused, without its password in the error', async (t) => {
  for (const url of [
    'http://user:canary@host.example/api',
    'https://host.example/api#x',
    'https://canary@host.example/',
  ]) {
    const problems = await refused(t, complete.replace(/url: \S+operator\S*,/, `url: "${url}",`))
    const text = JSON.stringify(problems)
    assert.match(text, /without user name, password and fragment/, text)
    assert.doesNotMatch(text, /canary/)
  }
})

test('every kind of address refuses the parts that would be dropped, and keeps the others', async (t) => {
  const operator = 'operator:\n  keys: [{name: p, key: operator-key-000000000001, brands: [1]}]\n  suppression: none\n'
  for (const [setting, value] of [
    ['public_url', 'https://host.example/api?tenant=1'],
    ['push', '{provider: http, url: "https://host.example/", proxy: "http://proxy.example:3128/path"}'],
    ['push', '{provider: http, url: "https://host.example/", proxy: "http://proxy.example:3128/?a=b"}'],
    [
      'push',
      '{provider: http, url: "https://host.example/", auth: {oauth2: "https://u:p@host.example/", client_id: c, client_secret: s}}',
    ],
    ['publish', '[{brand: 1, to: {amqp: "amqps://u:p@broker.example/#x"}}]'],
    ['store', 'postgres://u:p@db.example/bellwire#x'],
  ] as const)
    assert.equal(
      (await refused(t, `${operator}  ${setting}: ${value.includes('{') ? value : `"${value}"`}`)).length,
      1,
      value,
    )
  const attributes = '[{http: "https://host.example/list/?next=/a/", fields: [blocked]}]'
  const config = await loadText(t, `${operator}  attributes: ${attributes}`)
  assert.partialDeepStrictEqual(config.operator?.attributes, [{ url: 'https://host.example/list/?next=/a/' }])
})

test('secretsOf() lists every secret for the log', async (t) => {
  const config = await loadText(t, complete, {
    BELLWIRE_PLATFORM_STORE: 'postgres://bell:canary%21pass@localhost/bell',
  })
  assert.deepEqual(secretsOf(config).toSorted(), [
    'canary!pass',
    'canary%21pass',
    'operator-key-000000000001',
    'platform-key-00000000001',
  ])
})
