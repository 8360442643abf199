// Tokens, keys and message texts never appear in logs, metrics, error bodies or the output of the commands. Each secret has
// "canary" in it, and the provider repeats all that it receives, with every kind of failure.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { optionName, type Setting, type Settings } from '../../src/base/runtime/setting.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import { table } from '../../src/sides/config/table.ts'
import { run, start } from '../cli/bellwire.ts'
import { answer, type ProviderRequest, startPushProvider } from '../providers/http/push-provider.ts'
import { startConfiguredOperator } from '../support/configured-sides.ts'
import { element, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const key = 'canary-operator-key-0001'
const adminKey = 'canary-operator-admin-key-0001'
const crmKey = 'canary-platform-key-0001'

const operatorOf = (push: string): string => `
operator:
  port: 0
  keys: [{name: platform, key: ${key}, brands: [1, 2, 3]}]
  admin_keys: [{name: office, key: ${adminKey}, scopes: [counts, read, decide, attributes]}]
  app: {secrets: [canary-secret-of-subscriber-tokens-0001]}
  suppression: none
  console: {people: [{name: ann, scopes: [counts]}], oidc: {issuer: "http://127.0.0.1:1", client_id: c, client_secret: canary-oidc-secret}, other_side: {url: "http://127.0.0.1:1", api_key: canary-other-side-key}}
  alerts:
    to:
      - {mail: "smtp://bell:canary-mail-password@127.0.0.1:1", from: a@example.com, to: [b@example.com]}
      - {webhook: "http://127.0.0.1:1/canary-path-of-the-alerts"}
  push:
${push.trim().replaceAll(/^/gm, '    ')}
`
const platformOf = (url: string): string => `
platform:
  port: 0
  keys: [{name: crm, key: ${crmKey}, scopes: [enqueue, counts, read, decide, attributes]}]
  lanes:
    - brand: 1
      channel: push
      to: {provider: operator-api, url: "${url}", api_key: ${key}}
      retry: {first: 50ms, most: 100ms}
      status: {webhook_secrets: [whsec_canaryQ8xT2mVb7LkzR4nWp1HsYd0cE9uJgF0002]}
`
const alertsOfPlatform = `
  console: {people: [{name: ann, scopes: [counts]}], oidc: {issuer: "http://127.0.0.1:1", client_id: c, client_secret: canary-oidc-secret}, other_side: {url: "http://127.0.0.1:1", api_key: canary-other-side-key}}
  alerts:
    to:
      - {mail: "smtp://bell:canary-mail-password-2@127.0.0.1:1", from: a@example.com, to: [b@example.com]}
      - {webhook: "http://127.0.0.1:1/canary-path-of-the-alerts-2"}
`
/** A lane of the platform that delivers without an operator. It follows the lanes of platformOf(). */
const ownOf = (push: string): string => `
    - {brand: 2, channel: push, to: own}
  own:
    app: {secrets: [canary-secret-of-own-subscriber-tokens-0001]}
    status: {receipts_from: [{name: pager, secret: canary-own-receipt-secret, rules: [{at: /e, equals: o, status: opened}]}]}
    push:
${push.trim().replaceAll(/^/gm, '      ')}
`
const statusesOf = (auth: string): string => `
  status:
    receipts_from: [{name: pager, secret: canary-receipt-secret, rules: [{at: /e, equals: o, status: opened}]}]
    webhooks:
      - brand: 1
        to:
          webhook: "http://127.0.0.1:1"
          secrets: [whsec_canaryQ8xT2mVb7LkzR4nWp1HsYd0cE9uJgF0003]
          api_key: canary-status-key-0001
      - {brand: 2, to: {callback: "http://127.0.0.1:1", auth: {basic: b, password: canary-callback-password}}}
      - brand: 3
        to:
          template: "http://127.0.0.1:1"
          secrets: [{name: k, value: canary-named-secret}]
          auth: ${auth.replace('URL', 'http://127.0.0.1:1')}
          ${proxy}
`
const named = `
secrets: [{name: k, value: canary-named-secret}]
headers: [{name: X-Further, value: "{{secret.k}}"}]
`
const auths = [
  '{header: X-Key, value: canary-header-value}',
  '{basic: ann, password: canary-basic-password}',
  '{bearer: canary-bearer-token}',
  '{oauth2: "URL/token", client_id: c, client_secret: canary-client-secret}',
  '{standard_webhooks: whsec_canaryQ8xT2mVb7LkzR4nWp1HsYd0cE9uJgF0001}',
]

const providerOf = (url: string, auth: string): string =>
  `provider: http\nurl: ${url}/push\n${named}\nauth: ${auth.replace('URL', url)}
body: {to: "{{user_id}}", title: "{{title}}", text: "{{body}}", data: "{{data}}"}`

const toUsers = (url: string, auth: string): string => `${providerOf(url, auth)}\nuser_id: "{{brand}}-{{user_id}}"`
const toDevices = (services: readonly string[], source: string): string => `
devices:
  source: ${source}
  services:
${services.map((service) => service.replaceAll(/^/gm, '      ').replace('      ', '    - ')).join('\n')}
`

/** A configuration that sends to users, by their ids. */
const yamlOf = (url: string, auth: string): string => operatorOf(toUsers(url, auth))

/** A configuration that sends to devices, by their tokens. */
const devicesOf = (services: readonly string[], source = '{module: ./devices.ts}'): string =>
  operatorOf(toDevices(services, source))
const pagerOf = (url: string, auth: string): string =>
  providerOf(url, auth).replace('to: "{{user_id}}"', 'to: "{{token}}", user: "{{user_id}}"').concat('\nname: pager')
const proxy = 'proxy: "http://ann:canary-proxy-password@127.0.0.1:1"'
const webPush = `provider: web-push
public_key: ${'B'.repeat(87)}
private_key: canaryCanaryCanaryCanaryCanaryCanaryCanary0
subject: mailto:ops@example.com
${proxy}`

const fcm = `provider: fcm\ncredentials_json: canary-service-account\n${proxy}`
const apns = `provider: apns
key_text: canary-signing-key
key_id: ABC1234567
team_id: DEF1234567
topic: com.example.app
${proxy}`

const sources = [
  '{sql: "select 1 where :users is null and :brand is null", database: "postgres://reader:canary-database-password@127.0.0.1:1/shop"}',
  '{http: "http://127.0.0.1:1/devices", auth: {bearer: canary-device-source-secret}}',
]
const broker = '"amqp://ann:canary-broker-password@127.0.0.1:1"'
const stream = 'kafka: ["127.0.0.1:1"], username: ann, password: canary-stream-password'
const streamWithToken =
  'kafka: ["127.0.0.1:1"], mechanism: OAUTHBEARER, oauth2: "http://127.0.0.1:1", client_id: ann, client_secret: canary-stream-secret'
const published = [
  `
  publish:
    - {brand: 1, to: {rest: "http://127.0.0.1:1", api_key: canary-link-key-0000001}}
    - {brand: 2, to: {amqp: ${broker}}}
`,
  `
  publish: [{brand: 1, to: {${stream}}}]
`,
]
const consumed = `
  device_links:
    - {brand: 1, from: {amqp: ${broker}}}
    - {brand: 2, from: {${stream}}}
  intake:
    - {channel: push, from: {amqp: ${broker}, queue: records}}
    - {channel: push, from: {${stream}, topic: records}}
  reconciliation: [{brand: 1, url: "http://127.0.0.1:1", api_key: canary-list-key-0000001, fields: [blocked]}]
`
const attributes = `
  attributes:
    - sql: postgres://reader:canary-database-password@127.0.0.1:1/shop
      queries: {blocked: "select id from users where brand = :brand"}
      brands: [1]
    - {http: "http://127.0.0.1:1/users", fields: [blocked], auth: {bearer: canary-attribute-token}, brands: [2, 3]}
`

/** Each user of each brand has two devices. */
const deviceSource = `
const devicesOf = (brand: string, userId: string) => [1, 2].map((n) => ({
  brand, userId, kind: 'http:pager', token: \`canary-device-token-\${brand}-\${n}\`, linkedAt: '2026-01-01T00:00:00Z',
}))
export const source = {
  name: 'mine',
  findDevices: async (brand: string, userIds: string[]) => new Map(userIds.map((userId) => [userId, devicesOf(brand, userId)])),
  findHolders: async (brand: string, tokens: string[]) => new Map(tokens.map((token) => [token, { ...devicesOf(brand, 'canary-user-id')[0], token }])),
}
`

const storeOf = (database: string): string => `"postgres://bellwire:canary-store-password@127.0.0.1:1/${database}"`
const storesOfPlatform = `
  store: ${storeOf('platform')}
  stores: [{number: 1, url: ${storeOf('platform_1')}, brands: [77]}]
`

/** Adds the settings of an address to each address. */
function withAddressSettings(yaml: string, auth: string): string {
  const ofAddress = auth.includes('standard_webhooks') ? auths[0] : auth.replace('URL', 'http://127.0.0.1:1')
  const settings = `auth: ${ofAddress}, ${proxy}`
  return yaml
    .replaceAll(/(?<!callback: "[^"]*"), auth: \{bearer: [\w-]+\}/g, '')
    .replaceAll(
      /(\{rest|\{http|\{webhook|operator-api, url|reconciliation: \[\{brand: 1, url): "[^"]*"/g,
      `$&, ${settings}`,
    )
    .replaceAll(/(\{callback: "[^"]*"), auth: \{[^}]*\}/g, `$1, ${settings}`)
    .replaceAll(/^( *)webhook: .*$/gm, `$&\n$1auth: ${ofAddress}\n$1${proxy}`)
    .replaceAll(/^( *)provider: http$/gm, `$&\n$1${proxy}`)
    .replaceAll(/^( *)- provider: http$/gm, `$&\n$1  ${proxy}`)
}

test('the configurations of this test have every secret setting', async (t) => {
  const folder = await temporary(t)
  const set = new Set<string>()
  for (const [i, auth] of auths.entries()) {
    const file = join(folder, 'bellwire.yaml')
    const address = 'http://127.0.0.1:1'
    const services = [pagerOf(address, auth), fcm, apns, webPush]
    for (const yaml of [
      yamlOf(address, auth) + attributes + published[0] + platformOf(address) + ownOf(toUsers(address, auth)),
      ...sources.map(
        (source) =>
          devicesOf(services, source) +
          published[1] +
          statusesOf(auth) +
          platformOf(address) +
          ownOf(toDevices(services, source)),
      ),
      `${yamlOf(address, auth)}\n  store: ${storeOf('operator')}\n${platformOf(address)}${alertsOfPlatform}${storesOfPlatform}`,
    ]) {
      const all = (yaml + consumed).replaceAll(stream, i % 2 === 0 ? stream : streamWithToken)
      await writeFile(file, withAddressSettings(all, auth))
      for (const path of secretsIn(table, await loadConfig(file, {}), '')) set.add(path)
    }
  }
  const all = secretsIn(table, undefined, '')
  // The store is an address. Tests with a PostgreSQL check its password: cli/doctor.test.ts and config/load.test.ts.
  const expected = all.filter((path) => !path.endsWith('.store'))
  assert.deepEqual([...set].filter((path) => !path.endsWith('.store')).sort(), expected.sort())
})

test('the output of the commands has no secret in it, whatever is wrong', async (t) => {
  const folder = await temporary(t)
  const provider = await startPushProvider(t)
  provider.script = (request, response) => echo(request, response, 401)
  for (const [i, auth] of auths.entries()) {
    const file = join(folder, `bellwire-${i}.yaml`)
    const yaml = yamlOf(provider.url, auth) + platformOf(provider.url)
    await writeFile(file, yaml)
    const json = i === 0 ? ['--json'] : []
    const runs = await Promise.all(['config', 'doctor'].map((command) => run([command, '-c', file, ...json])))
    assert.deepEqual(
      runs.map(({ code }) => code),
      [0, 1],
      auth,
    )
    for (const { out, err } of runs) assertClean(out + err, auth)
    assert.match(runs[1]?.out ?? '', /refuses the key \(401\)/)
  }
  // Credentials that cannot be right are reported without their values.
  await writeFile(join(folder, 'devices.ts'), deviceSource)
  for (const [i, service] of [fcm, apns, webPush].entries()) {
    const file = join(folder, `devices-${i}.yaml`)
    await writeFile(file, devicesOf([service]))
    const runs = await Promise.all(['config', 'doctor', 'operator'].map((command) => run([command, '-c', file])))
    assert.deepEqual(
      runs.map(({ code }) => code),
      [0, 1, 2],
      service,
    )
    for (const { out, err } of runs) assertClean(out + err, service)
  }
  // The same if the other side cannot be reached.
  for (const [i, source] of sources.entries()) {
    const file = join(folder, `away-${i}.yaml`)
    const yaml = devicesOf([pagerOf(provider.url, auths[0] as string)], source) + attributes + published[i]
    await writeFile(file, yaml + platformOf(provider.url) + consumed)
    for (const command of ['config', 'doctor']) {
      const { out, err } = await run([command, '-c', file])
      assertClean(out + err, source)
    }
  }
  // A malformed secret is not printed either.
  const file = join(folder, 'wrong.yaml')
  const wrong = yamlOf(provider.url, '{standard_webhooks: whsec_canary}').replace(key, 'canary short')
  await writeFile(file, wrong)
  for (const command of ['config', 'doctor', 'operator']) {
    const { code, out, err } = await run([command, '-c', file])
    assert.notEqual(code, 0)
    assertClean(out + err, command)
  }
})

for (const [to, level, format, yaml] of [
  ['users', 'debug', 'json', (url: string) => yamlOf(url, auths[3] as string)],
  ['users', 'info', 'text', (url: string) => yamlOf(url, auths[3] as string)],
  ['devices', 'debug', 'json', (url: string) => devicesOf([pagerOf(url, auths[3] as string)])],
] as const) {
  test(`no log line, metric or error has a token, a key or a text in it (to ${to}, ${level}, ${format})`, async (t) => {
    const env = { BELLWIRE_LOG_LEVEL: level, BELLWIRE_LOG_FORMAT: format }
    const { provider, operator, url, send } = await startOperatorProcess(t, env, yaml)
    const answers: string[] = []

    let push_id = ''
    const accepted = async (): Promise<string | undefined> => {
      const text = await send('/channels/push/single', secretElement())
      answers.push(text)
      return (JSON.parse(text) as { push_id?: string }).push_id
    }
    for (const script of allAnswers) {
      provider.script = (request, response) => answerToken(request, response) || script(request, response)
      answers.push(await send('/channels/push/single', secretElement()))
      answers.push(await send('/channels/push/batch', [secretElement(), secretElement({ brand_id: 2 })]))
      // A successful probe ends the pause, so that the next answer is tested too.
      provider.script = accept
      push_id = await until(accepted, { withinMs: 30_000, awaited: 'the provider accepts again' })
    }
    answers.push(await send('/channels/push/single', secretElement(), { 'x-api-key': 'canary-unknown-key-0001' }))
    answers.push(await send('/channels/push/single', '{"activity":{"id":1},"token":"canary-device-token"'))
    answers.push(await send('/nothing?token=canary-in-the-query', {}))
    answers.push(await send('/admin/summary', undefined, { 'x-api-key': 'canary-unknown-admin-key' }))
    answers.push(await send('/app/notifications?brand=1', undefined, { authorization: 'Bearer canary.jwt.token' }))
    for (const path of ['/metrics', '/healthz', '/readyz', '/admin/summary']) answers.push(await send(path, undefined))
    for (const text of answers) assertClean(text, 'an answer')

    // This endpoint shows the request on purpose, but no key.
    const shown = await send(`/admin/messages/${push_id}`, undefined)
    assert.match(shown, /canary-device-token/)
    for (const secret of keysOnly) assert.ok(!shown.includes(secret), secret)
    const { request: _, ...rest } = JSON.parse(shown) as { request: string }
    // The user is part of the message's key.
    assertClean(JSON.stringify({ ...rest, user_id: '', key: '' }), 'the calls of a message')

    operator.child.kill('SIGTERM')
    const { code, out, err } = await operator.ended
    assert.equal(code, 0, err)
    assertClean(out, 'the log')
    assertClean(err, 'standard error')
    assert.ok(out.includes('attempt settled'), 'attempts are logged')
    assert.ok(out.includes('provider needs attention'), 'the alert is logged')
    for (const status of [200, 400, 401, 404, 422, 429, 500, 503])
      assert.ok(new RegExp(`(http|pager) ${status} `).test(out), `status ${status} was tested`)
    assert.ok(
      provider.requests.some(({ text }) => text.includes('canary text')),
      'the provider received the message',
    )
    assert.ok(url)
  })
}

test('the platform exposes no secret either', async (t) => {
  const { provider, file: operator, folder } = await writeOperator(t)
  const { url } = await startConfiguredOperator(t, operator)
  const file = join(folder, 'platform.yaml')
  await writeFile(file, platformOf(url))
  const platform = start(t, ['platform', '-c', file], { BELLWIRE_LOG_LEVEL: 'debug', BELLWIRE_LOG_FORMAT: 'json' })
  const listening = JSON.parse(await platform.line(/"server\.listening"/)) as { url: string }
  const call = async (path: string, headers: object, body?: string): Promise<string> => {
    const method = body === undefined ? 'GET' : 'POST'
    const response = await fetch(listening.url + path, {
      method,
      headers: { ...headers },
      ...(body !== undefined && { body }),
    })
    return response.text()
  }
  let refused = 0
  provider.script = (request, response) =>
    answerToken(request, response) || echo(request, response, refused++ < 3 ? 400 : 200)
  const records = Array.from({ length: 6 }, () => JSON.stringify(secretElement()))
  const put = await call(
    '/admin/activities/push',
    { 'x-api-key': crmKey, 'content-type': 'application/x-ndjson' },
    records.join('\n'),
  )
  assert.match(put, /"accepted":6/)
  const settled = await platform.line(/"item\.settled".*"category":"failed"/)
  const answers = [
    put,
    settled,
    await call('/metrics', {}),
    await call('/admin/lanes', { 'x-api-key': crmKey }),
    await call('/admin/summary', { 'x-api-key': crmKey }),
    await call('/admin/lanes', { 'x-api-key': 'canary-unknown-key-0001' }),
  ]
  platform.child.kill('SIGTERM')
  const { out, err } = await platform.ended
  answers.push(out, err)
  for (const text of answers) assertClean(text, 'the platform')
})

const keysOnly = [key, adminKey, crmKey, 'canary-client-secret', 'canary-access-token', 'canary-named-secret']

async function writeOperator(t: TestContext, yaml: (url: string) => string = (url) => yamlOf(url, auths[3] as string)) {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const provider = await startPushProvider(t)
  provider.script = accept
  await writeFile(join(folder, 'devices.ts'), deviceSource)
  await writeFile(file, yaml(provider.url))
  return { folder, file, provider }
}

async function startOperatorProcess(t: TestContext, env: NodeJS.ProcessEnv, yaml: (url: string) => string) {
  const { file, provider } = await writeOperator(t, yaml)
  const operator = start(t, ['operator', '-c', file], env)
  const line = await operator.line(/http:\/\/127\.0\.0\.1:\d+/)
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] as string
  const send = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const response = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': path.startsWith('/admin') ? adminKey : key, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    return response.text()
  }
  return { provider, operator, url, send }
}

const secretElement = (over: object = {}) =>
  element(
    { user_id: 'canary-user-id', ...over },
    { title: 'canary title', body: 'canary text', token: 'canary-device-token', data: { secret: 'canary' } },
  )

let issued = 0
function answerToken({ path }: ProviderRequest, response: ServerResponse): boolean {
  if (path !== '/token') return false
  answer(response, 200, { access_token: `canary-access-token-${++issued}`, expires_in: 3600 })
  return true
}

function accept(request: ProviderRequest, response: ServerResponse): boolean {
  return answerToken(request, response) || echo(request, response, 200)
}

/** Repeats the whole request in the answer, as some providers do in their errors. */
function echo({ headers, text, path }: ProviderRequest, response: ServerResponse, status: number, more = {}): boolean {
  const received = `${text} ${JSON.stringify(headers)} ${path}`
  answer(response, status, { error: { message: received }, errors: [received], received: { ...headers } }, more)
  return true
}

const allAnswers: readonly ((request: ProviderRequest, response: ServerResponse) => boolean)[] = [
  ...[200, 201, 400, 404, 410, 413, 422, 500].map(
    (status) => (request: ProviderRequest, response: ServerResponse) => echo(request, response, status),
  ),
  (request, response) => {
    answer(response, 400, `<html>${request.text} ${request.headers.authorization}`)
    return true
  },
  (_request, response) => {
    response.destroy()
    return true
  },
  (_request, response) => {
    response.writeHead(200).end('canary'.repeat(60_000))
    return true
  },
  (request, response) => echo(request, response, 429, { 'retry-after': '0' }),
  (request, response) => echo(request, response, 503, { 'retry-after': '0' }),
  (request, response) => echo(request, response, 302, { location: `/${request.headers.authorization}` }),
  (request, response) => echo(request, response, 401, { 'retry-after': '0' }),
]

function assertClean(text: string, where: string): void {
  const at = text.search(/canary/i)
  assert.equal(at, -1, `${where}: …${text.slice(Math.max(0, at - 200), at + 80)}…`)
}

/** The paths of secret settings: those that have a value, or all if `value` is undefined. */
function secretsIn(setting: Setting, value: unknown, path: string): string[] {
  const all = value === undefined
  switch (setting.type) {
    case 'json':
      return []
    case 'leaf':
      return setting.secret ? [path] : []
    case 'list': {
      const items = all ? [undefined] : (value as unknown[])
      return [...new Set(items.flatMap((item) => secretsIn(setting.of, item, `${path}[]`)))]
    }
    case 'group':
      return secretsAmong(setting.settings, value, path)
    case 'variants':
      if (all)
        return Object.entries(setting.variants).flatMap(([is, of]) => secretsAmong(of, undefined, `${path}:${is}`))
      return secretsAmong(
        setting.variants[(value as { is: string }).is] ?? {},
        value,
        `${path}:${(value as { is: string }).is}`,
      )
  }
}

function secretsAmong(settings: Settings, value: unknown, path: string): string[] {
  return Object.entries(settings).flatMap(([name, setting]) => {
    const inner = (value as Record<string, unknown> | undefined)?.[optionName(name, setting)]
    return value !== undefined && inner === undefined
      ? []
      : secretsIn(setting, inner, path === '' ? name : `${path}.${name}`)
  })
}
