// Invalid options are reported before start(), with their paths and in the words of the configuration file.

import assert from 'node:assert/strict'
import test from 'node:test'
import { ConfigError } from '../../src/base/runtime/problem.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import type { OperatorOptions } from '../../src/sides/operator/options.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import type { PlatformOptions } from '../../src/sides/platform/options.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import { httpProvider } from '../../src/subjects/providers/http/http.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { element, keys, post, startOperator, witness } from '../support/sides.ts'

const operator: OperatorOptions = { store: 'sqlite:never-opened.db', keys: [keys.one], suppression: 'none' }
const platform: PlatformOptions = {
  store: 'sqlite:never-opened.db',
  keys: [{ name: 'crm', key: keys.one.key, scopes: ['enqueue'] }],
  lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: witness() }],
}

test('an empty or missing key is reported with its path, the expected form and a command that creates one', () => {
  for (const [key, told] of [
    ['', 'expected at least 16 characters without spaces\n    make one with: openssl rand -hex 24'],
    [
      process.env.BELLWIRE_TEST_NOT_SET as string,
      'missing; expected the key or its SHA-256\n    write either key or key_sha256; make both with: bellwire keys new',
    ],
  ] as const)
    assert.throws(
      () => createOperator({ ...operator, keys: [{ ...keys.one, key }] }),
      ({ message }: Error) => message === `createOperator  keys[0].key: ${told}`,
    )
})

test('all problems of the operator options are reported at once, without secrets', () => {
  const { paths, message } = refused(() =>
    createOperator({
      store: 'mysql://bell:canary-password@db',
      keys: [
        { name: '', key: 'canary key', brands: [] },
        { name: 'b', key: keys.one.key, brands: ['one'] },
        { name: 'b', key: keys.one.key, brands: ['1'] },
      ],
      adminKeys: [{ name: 'c', key: keys.two.key, scopes: ['write' as 'read'] }],
      app: { secrets: ['canary secret'], origins: ['www.example.com'] },
      limits: { batchMax: 0, provider_timeout: 1 } as object,
      keptMs: -1,
    }),
  )
  assert.deepEqual(paths, [
    'store',
    'keys[0].name',
    'keys[0].key',
    'keys[0].brands',
    'keys[1].brands[0]',
    'adminKeys[0].scopes[0]',
    'app.secrets[0]',
    'app.origins[0]',
    'keptMs',
    'limits.provider_timeout',
    'limits.batchMax',
    'keys[2]',
    'keys[2]',
    'attributes',
  ])
  assert.match(message, /limits\.batchMax: expected a whole number from 1 to 100000, found 0/)
  assert.doesNotMatch(message, /canary/)
})

test('all problems of the platform options are reported at once', () => {
  const [lane] = platform.lanes
  const { paths } = refused(() =>
    createPlatform({
      ...platform,
      store: '',
      keys: [{ name: 'crm', key: 'short', scopes: [] }],
      lanes: [
        { ...(lane as (typeof platform.lanes)[number]), max: 0, retry: { firstMs: 2, mostMs: 1, attempts: 0 } },
        { brand: '1', channel: 'push', mode: 'bulk' as 'batch', provider: undefined as never },
      ],
    }),
  )
  assert.deepEqual(paths, [
    'store',
    'keys[0].key',
    'keys[0].scopes',
    'lanes[0].max',
    'lanes[0].retry.attempts',
    'lanes[1].mode',
    'lanes[1].provider',
    'lanes[1]',
    'lanes[0].retry',
  ])
})

test('a value of another type is named: a number for a text, a list, null, or a promise that was not awaited', () => {
  const messageOf = (options: object) => refused(() => createOperator({ ...operator, ...options })).message
  assert.match(
    messageOf({ keys: [{ ...keys.one, brands: [1] }] }),
    /expected the number of a brand as a text, found 1$/,
  )
  assert.match(messageOf({ keys: [{ ...keys.one, name: 5 }] }), / as a text, found 5$/)
  assert.match(messageOf({ limits: [] }), /expected options by name, found a list$/)
  assert.match(messageOf({ push: null }), /expected a Provider, with a function send, found null$/)
  assert.match(messageOf({ attributes: Promise.resolve() }), /with a function among, found a promise: await it$/)
})

test('the members of components of your own are checked, as those of a module of the configuration file', () => {
  const send = async () => []
  const service = { name: 'pager', concurrency: 0, reaches: () => true, send }
  const findNone = async () => new Map()
  const { paths } = refused(() =>
    createOperator({
      ...operator,
      push: { devices: { source: { findDevices: findNone, findHolders: findNone }, services: [service] } },
      site: { name: 'mine', max: 0, send },
      attributes: { name: 'mine', among: findNone },
    } as unknown as OperatorOptions),
  )
  assert.deepEqual(paths, [
    'push.devices.source.name',
    'push.devices.services[0].concurrency',
    'site.max',
    'attributes.fields',
  ])
  const lane = { ...platform.lanes[0], provider: { name: 'mine', send } } as unknown as (typeof platform.lanes)[number]
  assert.throws(
    () => createPlatform({ ...platform, lanes: [lane] }),
    /^ConfigError: createPlatform {2}lanes\[0\]\.provider\.max: expected a whole number of messages, at least 1$/,
  )
})

test('a misspelt option is refused at every level, with the name that was meant', () => {
  const [lane] = platform.lanes
  const wrong: readonly (() => unknown)[] = [
    () => createOperator({ ...operator, suppresion: 'none' } as never),
    () => createOperator({ ...operator, keys: [{ ...keys.one, rat: { perSecond: 5 } }] } as never),
    () => createOperator({ ...operator, keys: [{ ...keys.one, rate: { persecond: 5 } }] } as never),
    () => createOperator({ ...operator, limits: { batchMac: 10 } } as never),
    () => createOperator({ ...operator, deviceLimits: { ap: 1 } } as never),
    () => createOperator({ ...operator, app: { secrets: ['a'.repeat(16) + 'b'.repeat(16)], origin: [] } } as never),
    () =>
      createOperator({
        ...operator,
        suppression: { exempt: { activites: ['7'] } },
        attributes: { name: 'mine', fields: [], among() {} },
      } as never),
    () => createOperator({ ...operator, content: { titel: '/title' } } as never),
    () => createPlatform({ ...platform, lane: [] } as never),
    () => createPlatform({ ...platform, keys: [{ ...platform.keys[0], brand: ['1'] }] } as never),
    () => createPlatform({ ...platform, lanes: [{ ...lane, perSeconds: 5 }] } as never),
    () => createPlatform({ ...platform, lanes: [{ ...lane, retry: { first: 1 } }] } as never),
    () => createPlatform({ ...platform, own: { pusch: {} } } as never),
  ]
  const found = wrong.map((create) =>
    refused(create)
      .message.replace(/^create\w+ +/, '')
      .replace('\n    ', ' '),
  )
  assert.deepEqual(found, [
    'suppresion: unknown option did you mean suppression?',
    'keys[0].rat: unknown option did you mean rate?',
    'keys[0].rate.persecond: unknown option did you mean perSecond?',
    'limits.batchMac: unknown option did you mean batchMax?',
    'deviceLimits.ap: unknown option did you mean app?',
    'app.origin: unknown option did you mean origins?',
    'suppression.exempt.activites: unknown option did you mean activities?',
    'content.titel: unknown option did you mean title?',
    'lane: unknown option did you mean lanes?',
    'keys[0].brand: unknown option did you mean brands?',
    'lanes[0].perSeconds: unknown option did you mean perSecond?',
    'lanes[0].retry.first: unknown option did you mean firstMs?',
    'own.pusch: unknown option did you mean push?',
  ])
})

test('the keys of transactional messages are keys of the platform that may enqueue', () => {
  const lanes = platform.lanes.map((each) => ({ ...each, transactional: { keys: ['crm', 'login'] } }))
  assert.deepEqual(refused(() => createPlatform({ ...platform, lanes })).paths, ['lanes[0].transactional.keys[1]'])
})

test('an invalid operator URL and an invalid service account are reported with their paths', () => {
  assert.deepEqual(refused(() => operatorApi({ url: 'operator.example', apiKey: '' })).paths, ['url', 'apiKey'])
  assert.throws(() => fcm({ serviceAccount: '' }), /^Error: fcm: serviceAccount: the file is empty: download a new one/)
  assert.throws(() => fcm({ serviceAccount: './account.json' }), /serviceAccount: .*the text of the file, not its path/)
  assert.throws(() => fcm({ serviceAccount: {} as never }), /serviceAccount: project_id is missing/)
})

test('valid options are accepted', () => {
  createOperator(operator)
  createPlatform({ ...platform, lanes: platform.lanes.map((lane) => ({ ...lane, provider: operatorApi(validApi) })) })
})

const validApi = { url: 'https://operator.example/api', apiKey: 'whatever the operator gave' }

function refused(create: () => unknown): { readonly paths: readonly string[]; readonly message: string } {
  try {
    create()
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return { paths: error.problems.map(({ path }) => path), message: error.message }
  }
  return assert.fail('the options were accepted')
}

test('an undefined limit, and a pointer that is not given, has its default', async (t) => {
  // TypeScript accepts it without exactOptionalPropertyTypes.
  const limits = { inProgress: undefined, providerTimeoutMs: undefined, batchMax: undefined } as object
  const content = { title: '/headline' }
  const site = httpProvider({ name: 'pager', url: 'http://127.0.0.1:1', body: '{"title":"{{title}}"}', content })
  for (const each of [site, 'inbox'] as const) {
    const { url } = await startOperator(t, { limits, content, site: each })
    const { status, body } = await post(`${url}/channels/site/single`, { ...element(), headline: 'Hello' })
    if (each === 'inbox') assert.equal(status, 200, body.error)
    else assert.match(body.error, /ECONNREFUSED/)
  }
})
