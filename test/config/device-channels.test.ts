import assert from 'node:assert/strict'
import test from 'node:test'
import { operatorOptions, platformOptions } from '../../src/sides/config/compose/compose.ts'
import { kafkaAddress } from '../../src/sides/config/compose/consumer.ts'
import { printConfig } from '../../src/sides/config/print.ts'
import { ConfigError } from '../../src/sides/config/problem.ts'
import type { OperatorConfig, PlatformConfig } from '../../src/sides/config/table.ts'
import { loadText } from './load-text.ts'

const configOf = (publish: string, links: string, more = ''): string => `
operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1, 2, 3]}]
  suppression: none
  publish: ${publish}
platform:
  keys: [{name: crm, key: platform-key-00000000001, scopes: [counts, read]}]
  lanes: []
  device_links: ${links}
  ${more}
`

test('each brand is published and consumed as configured, with the same default names on both sides', async (t) => {
  const config = await loadText(
    t,
    configOf(
      `
    - {brand: 1, to: {rest: https://platform.example/integration, api_key: secret-of-rest}}
    - {brand: 2, to: {amqp: "amqp://bellwire:secret-of-amqp@127.0.0.1:1/"}, providers: [firebase, webpush], origin: www.two.example}
    - {brand: 3, to: {kafka: ["127.0.0.1:1"], username: bellwire, password: secret-of-kafka}, providers: [all], retry: {most: 1min}}`,
      `
    - {brand: 2, from: {amqp: "amqp://bellwire:secret-of-amqp@127.0.0.1:1/"}}
    - {brand: 3, from: {kafka: ["127.0.0.1:1"], username: bellwire, password: secret-of-kafka}}
    - {from: {kafka: ["127.0.0.1:1"]}, origins: [{origin: one.example, brand: 1}, {origin: two.example, brand: 2}]}`,
    ),
  )
  const { publish = [] } = await operatorOptions(config.operator as OperatorConfig)
  t.after(() => Promise.all(publish.map(({ publisher }) => publisher.close())))
  assert.deepEqual(
    publish.map(({ brand, publisher, providers, origin }) => [brand, publisher.name, providers, origin]),
    [
      ['1', 'rest', undefined, undefined],
      ['2', 'amqp', ['firebase', 'webpush'], 'www.two.example'],
      ['3', 'kafka', 'all', undefined],
    ],
  )
  assert.equal(publish[2]?.retry?.mostMs, 60_000)
  const { deviceLinks = [] } = await platformOptions(config.platform as PlatformConfig)
  assert.deepEqual(
    deviceLinks.map(({ brands, consumer }) => [brands, consumer.name]),
    [
      ['2', 'amqp device-links.2'],
      ['3', 'kafka device-links.3'],
      [{ 'one.example': '1', 'two.example': '2' }, 'kafka device-links'],
    ],
  )
  assert.doesNotMatch(printConfig(config), /secret-of/)
})

test('the origin in published links is by default the host of the site of the app', async (t) => {
  const to = '{rest: https://platform.example/integration, api_key: secret-of-rest}'
  const config = await loadText(
    t,
    configOf(`\n    - {brand: 1, to: ${to}}\n    - {brand: 2, to: ${to}, origin: two.example}`, '[]'),
  )
  const app = { secrets: ['x'], origins: ['https://www.shop.example:8443', 'https://m.shop.example'] }
  const { publish = [] } = await operatorOptions({ ...config.operator, app } as unknown as OperatorConfig)
  t.after(() => Promise.all(publish.map(({ publisher }) => publisher.close())))
  assert.deepEqual(
    publish.map(({ origin }) => origin),
    ['www.shop.example:8443', 'two.example'],
  )
})

test('brands that share a topic need different origins', async (t) => {
  const to = 'to: {kafka: ["a:1"], topic: all-links}'
  const problemsOf = (publish: string) =>
    loadText(t, configOf(publish, '[]')).then(
      () => [],
      (error: ConfigError) => error.problems.map(({ path, description }) => `${path}: ${description}`),
    )
  const description =
    'operator.publish[1]: has the same destination as brand 1, and a receiver cannot distinguish their messages'
  assert.deepEqual(await problemsOf(`[{brand: 1, ${to}}, {brand: 2, ${to}}]`), [description])
  assert.deepEqual(await problemsOf(`[{brand: 1, ${to}, origin: one}, {brand: 2, ${to}}]`), [description])
  assert.deepEqual(await problemsOf(`[{brand: 1, ${to}, origin: one}, {brand: 2, ${to}, origin: one}]`), [description])
  assert.deepEqual(await problemsOf(`[{brand: 1, ${to}, origin: one}, {brand: 2, ${to}, origin: two}]`), [])
})

test('contradictory settings are refused', async (t) => {
  const rest = '{rest: https://platform.example, api_key: k}'
  const text = configOf(
    `[{brand: 1, to: ${rest}}, {brand: 1, to: ${rest}, retry: {first: 1h}}, {brand: 2, to: {kafka: ["a:1"], username: u}}]`,
    `[{from: {kafka: ["a:1"]}}, {brand: 1, from: {amqp: "amqps://b/"}}, {brand: 1, from: {amqp: "amqps://b/"}},
     {from: {kafka: ["a:1"], topic: x, group: g}, origins: [{origin: o, brand: 1}, {origin: o, brand: 2}]},
     {brand: 5, from: {kafka: ["a:1"], group: g}}]`,
    `intake: [{from: {amqp: "amqps://b/", queue: device-links.1}}, {from: {kafka: ["a:1"], topic: y, group: g}}, {from: {kafka: ["a:1"], password: p, tls: true}},
     {from: {kafka: ["a:1"], topic: z, ca: ca.pem}}]`,
  )
  const error = await loadText(t, text).catch((caught: unknown) => caught)
  assert.ok(error instanceof ConfigError)
  assert.deepEqual(
    error.problems.map(({ path, description }) => `${path}: ${description}`),
    [
      'operator.publish[1].retry: the first backoff is longer than the longest',
      'operator.publish[1]: brand 1 is published already',
      'operator.publish[2].to: has only one of username and password',
      'platform.device_links[0]: needs either brand or origins',
      'platform.device_links[2]: is consumed already',
      'platform.device_links[3].origins: o belongs to another brand already',
      'platform.device_links[4].from.group: is the group of another topic',
      'platform.intake[0]: is consumed already',
      'platform.intake[1].from.group: is the group of another topic',
      'platform.intake[2].from: has only one of username and password',
      'platform.intake[3].from: has a certificate, but the connection has no TLS',
    ],
  )
})

test('OAUTHBEARER without one source of its token is refused, and names the setting', () => {
  const of = { brokers: ['b:9092'], tls: true, mechanism: 'OAUTHBEARER' } as const
  const at = 'platform.intake[0].from'
  assert.throws(() => kafkaAddress(of, at), /platform\.intake\[0\]\.from\.token_file.*oauth2/s)
  assert.throws(() => kafkaAddress({ ...of, tokenFile: 'a', tokenUrl: 'https://b' }, at), /only one of/)
  assert.throws(() => kafkaAddress({ ...of, tokenUrl: 'https://b', clientId: 'c' }, at), /client_secret: is missing/)
})
