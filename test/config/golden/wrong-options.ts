// Wrong options of the library, each with one thought. Their messages are in messages.txt.

import { createOperator } from '../../../src/sides/operator/create-operator.ts'
import { createPlatform } from '../../../src/sides/platform/create-platform.ts'
import { operatorApi } from '../../../src/subjects/providers/operator-api.ts'
import { statusWebhook } from '../../../src/subjects/status/senders/webhook.ts'
import { keys, witness } from '../../support/sides.ts'

const operator = (options: object) => (): unknown =>
  createOperator({ store: 'sqlite:never-opened.db', keys: [keys.one], suppression: 'none', ...options } as never)
const platform = (options: object) => (): unknown =>
  createPlatform({
    store: 'sqlite:never-opened.db',
    keys: [{ name: 'crm', key: keys.one.key, scopes: ['enqueue'] }],
    lanes: [laneOptions],
    ...options,
  } as never)
const laneOptions = { brand: '1', channel: 'push', mode: 'batch', provider: witness() }
const lane = (options: object) => platform({ lanes: [{ ...laneOptions, ...options }] })
const attributes = { name: 'none', fields: [], among: async () => new Map() }
const consumer = { name: 'c', consume: async () => {} }
const publisher = { name: 'p', max: 1, concurrency: 1, publish: async () => [], close: async () => {} }
const sender = { name: 's', max: 1, concurrency: 1, supports: () => true, send: async () => [], close: async () => {} }
const service = { name: 'mine', concurrency: 1, reaches: () => true, send: async () => ({}) }
const devices = (options: object) =>
  operator({ push: { devices: { source: 'registry', services: [service], ...options } } })
const compared = (options: object) =>
  platform({
    reconciliation: [{ brand: '1', url: 'https://operator.example', apiKey: 'k', fields: ['blocked'], ...options }],
  })

/** Each throws a ConfigError. */
export const wrongOptions: Readonly<Record<string, () => unknown>> = {
  'createOperator: no store': operator({ store: undefined }),
  'createOperator: a store of an unknown database': operator({ store: 'mysql://bell:canary@db' }),
  'createOperator: a store of a number': operator({ store: 5 }),
  'createOperator: a public address of another scheme': operator({ publicUrl: 'operator.example' }),
  'createOperator: no keys': operator({ keys: [] }),
  'createOperator: a key without a value': operator({ keys: [{ ...keys.one, key: '' }] }),
  'createOperator: a key that is too short': operator({ keys: [{ ...keys.one, key: 'canary' }] }),
  'createOperator: a key without brands': operator({ keys: [{ ...keys.one, brands: [] }] }),
  'createOperator: a brand of a number': operator({ keys: [{ ...keys.one, brands: [1] }] }),
  'createOperator: a brand that is a word': operator({ keys: [{ ...keys.one, brands: ['main'] }] }),
  'createOperator: two keys with one name and value': operator({ keys: [keys.one, keys.one] }),
  'createOperator: a rate of 0': operator({ keys: [{ ...keys.one, rate: { perSecond: 0 } }] }),
  'createOperator: an unknown scope': operator({ adminKeys: [{ name: 'a', key: keys.two.key, scopes: ['write'] }] }),
  'createOperator: no source of attributes': operator({ suppression: undefined }),
  'createOperator: no secret of subscriber tokens': operator({ app: { secrets: [], origins: [] } }),
  'createOperator: a short secret and an origin with a path': operator({
    app: { secrets: ['canary'], origins: ['https://www.example/shop'] },
  }),
  'createOperator: a retention in words': operator({ keptMs: '90d' }),
  'createOperator: a negative retention': operator({ contentsKeptMs: -1 }),
  'createOperator: limits of another type': operator({
    limits: { batchMax: '10', bodyBytes: 0, providerTimeoutMs: Number.NaN },
  }),
  'createOperator: a misspelt option': operator({ sit: 'inbox' }),
  'createOperator: a name that resembles no option': operator({ xyzzy: 1 }),
  'createOperator: a setting of the file': operator({ keys: [{ ...keys.one, rate: { per_second: 5 } }] }),
  'createOperator: a misspelt limit': operator({ limits: { batch: 1 } }),
  'createOperator: a misspelt exemption': operator({ attributes, suppression: { exempt: { activites: ['7'] } } }),
  'createOperator: a misspelt option of content': operator({ content: { titel: '/title' } }),
  'createOperator: a misspelt option of status': operator({ status: { poling: true } }),

  'createOperator: a public address with a password': operator({ publicUrl: 'https://bell:canary@operator.example' }),
  'createOperator: keys in an object': operator({ keys: { platform: keys.one } }),
  'createOperator: a provider without send': operator({ push: { name: 'mine', max: 1 } }),
  'createOperator: a misspelt word for the inbox': operator({ site: 'imbox' }),
  'createOperator: a misspelt option beside the devices': operator({
    push: { devices: { source: 'registry', services: [service] }, presentation: [] },
  }),
  'createOperator: no push service': devices({ services: [] }),
  'createOperator: a push service without its functions': devices({ services: [{ name: 'mine' }] }),
  'createOperator: a misspelt option of push': devices({ lifeTime: 1 }),
  'createOperator: a misspelt option of a presentation': devices({ presentation: [{ servces: ['mine'] }] }),
  'createOperator: a presentation of a push service that does not exist': devices({
    presentation: [{ services: ['mnie'] }],
  }),
  'createOperator: a misspelt option of removals': devices({ removals: { window: 5, share: 10 } }),
  'createOperator: a misspelt option of publish': operator({ publish: [{ brand: '1', publisher, timeout: 5 }] }),
  'createOperator: a publisher without publish, and a retry that begins above its end': operator({
    publish: [
      { brand: '1', publisher, retry: { firstMs: 2, mostMs: 1 } },
      { brand: '2', publisher: {} },
    ],
  }),
  'createOperator: a misspelt option of a retry': operator({
    publish: [{ brand: '1', publisher, retry: { first: 1 } }],
  }),
  'createOperator: a misspelt option of a webhook': operator({
    status: { webhooks: [{ brand: '1', sender, timout: 5 }] },
  }),
  'createOperator: a webhook for an unknown brand': operator({ status: { webhooks: [{ brand: '99', sender }] } }),
  'createOperator: a receiver with a slash': operator({
    status: { receiptsFrom: [{ name: 'a/b', header: 'authorization', secret: 'canary', id: '/id', rules: [] }] },
  }),
  'statusWebhook: a misspelt option and a short secret': () =>
    statusWebhook({ url: 'https://platform.example', secrets: ['canary'], maximum: 5 } as never),

  'createPlatform: a lane without its parts': platform({ lanes: [{}] }),
  'createPlatform: a lane of another mode': lane({ mode: 'bulk' }),
  'createPlatform: a lane with a URL as its provider': lane({ provider: 'https://operator.example' }),
  'createPlatform: two lanes of a brand and channel': platform({ lanes: [laneOptions, laneOptions] }),
  'createPlatform: a lane of own delivery without a provider': lane({ provider: 'own' }),
  'createPlatform: numbers of a lane out of bounds': lane({
    max: 0,
    bytes: -1,
    spanMs: -1,
    concurrency: 1.5,
    perSecond: 0,
    timeoutMs: '30s',
  }),
  'createPlatform: a backoff that begins above its end': lane({ retry: { firstMs: 2, mostMs: 1 } }),
  'createPlatform: a webhook secret of another form': lane({ status: { secrets: ['canary'] } }),
  'createPlatform: polling without an address and a key': lane({ status: { poll: {} } }),
  'createPlatform: a key of transactional messages that does not exist': lane({ transactional: { keys: ['login'] } }),
  'createPlatform: a misspelt option of a lane': lane({ perSeconds: 5 }),
  'createPlatform: a misspelt option of expires': lane({ expires: { after: 5 } }),
  'createPlatform: a key without scopes': platform({ keys: [{ name: 'a', key: keys.one.key, scopes: [] }] }),
  'createPlatform: an intake of another channel': platform({ intake: [{ consumer, channel: 'mail', brands: ['x'] }] }),
  'createPlatform: a store of a number that is too large': platform({
    store: 'postgres://127.0.0.1/a',
    stores: [{ number: 100, url: 'postgres://127.0.0.1/b', brands: ['x'] }],
  }),
  'createPlatform: a size of 0': platform({ bodyBytes: 0 }),
  'createPlatform: a misspelt option with a unit': platform({ bodyBytesInflight: 1 }),
  'createPlatform: a misspelt option of own delivery': platform({ own: { pusch: {} } }),
  'createPlatform: a misspelt option of the limits of own delivery': platform({
    own: { limits: { providerTimeout: 1 } },
  }),

  'createPlatform: a misspelt option of polling': lane({
    status: { poll: { url: 'https://operator.example', apiKey: 'k', every: 5 } },
  }),
  'createPlatform: an unknown authentication': lane({
    status: { poll: { url: 'https://operator.example', auth: { kind: 'digest', password: 'canary' } } },
  }),
  'createPlatform: a misspelt option of an authentication': compared({
    auth: { kind: 'basic', username: 'u', password: 'canary' },
  }),
  'createPlatform: a misspelt option of a reconciliation': compared({ every: 5, limits: { shrik: 5 } }),
  'createPlatform: a field that does not exist': compared({ fields: ['blokced'] }),
  'createPlatform: a reconciliation without a key': compared({ apiKey: undefined }),
  'createPlatform: a misspelt option of device links': platform({ deviceLinks: [{ consumer, brand: '1' }] }),
  'createPlatform: an origin without a brand': platform({
    deviceLinks: [{ consumer, brands: { 'www.example.com': '' } }],
  }),
  'createPlatform: an intake for a brand without a lane': platform({ intake: [{ consumer, brands: ['9'] }] }),
  'createPlatform: no lanes': platform({ lanes: undefined }),

  'operatorApi: a misspelt option': () =>
    operatorApi({ url: 'https://operator.example', apiKey: 'k', timeout: 5 } as never),
  'operatorApi: no address and no key': () => operatorApi({ url: '', apiKey: '' }),
}
