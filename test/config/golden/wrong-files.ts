// Wrong configuration files, each with one thought. Their messages are in messages.txt.

import { hash } from 'node:crypto'

const operator = (settings: string): string => `operator:
  keys: [{name: ft, key: operator-key-000000000001, brands: [1]}]
  suppression: none
${settings}`
const platform = (settings: string): string => `platform:\n${settings}`
const to = '{provider: operator-api, url: "https://operator.example", api_key: operator-key-000000000001}'
const lane = (settings: string): string =>
  platform(`  lanes:
    - brand: 1
      channel: push
      to: ${to}
${settings}`)
const service = (settings: string): string =>
  operator(`  push:
    devices:
      services:
        - ${settings}`)
const webhook = (settings: string): string =>
  operator(`  status:
    webhooks:
      - brand: 1
        to: ${settings}`)
const secret = 'whsec_pS3Rr6M1y0dZkq7VxWgHn8TbLcE2uJfA4oQiKvXtYzs='

export interface WrongFile {
  readonly file?: string
  readonly env?: Readonly<Record<string, string>>
}

export const wrongFiles: Readonly<Record<string, WrongFile>> = {
  // Kinds of values.
  'a number above its bound': { file: operator('  port: 70000') },
  'a number below its bound': { file: lane('      max: 0') },
  'a number with a fraction': { file: lane('      concurrency: 1.5') },
  'a text instead of a number': { file: lane('      per_second: many') },
  'a word that is not one of the words': { file: lane('      mode: bulk') },
  'a time without its unit': { file: lane('      timeout: 30') },
  'a time with an unknown unit': { file: operator('  keep: 3 months') },
  'a size without its unit': { file: operator('  limits: {body: 16}') },
  'neither true nor false': { file: lane('      failed_actions: yes please') },
  'an address of another scheme': {
    file: platform('  reconciliation: [{brand: 1, url: ftp://op.example, api_key: x, fields: [blocked]}]'),
  },
  'an address with a user name and a password': {
    file: platform(
      '  reconciliation: [{brand: 1, url: "https://bell:canary@op.example", api_key: x, fields: [blocked]}]',
    ),
  },
  'a public address with a query': { file: operator('  public_url: https://operator.example/?a=1') },
  'a proxy of another scheme': { file: lane('').replace('url:', 'proxy: "https://bell:canary@proxy.example", url:') },
  'an AMQP address of another scheme': {
    file: operator('  publish: [{brand: 1, to: {amqp: "http://bell:canary@broker"}}]'),
  },
  'a Kafka broker without its port': { file: operator('  publish: [{brand: 1, to: {kafka: [broker]}}]') },
  'a network with too many bits': { file: operator('  trusted_proxies: [10.0.0.0/33]') },
  'an origin with a path': {
    file: operator('  app: {secrets: [a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5], origins: ["https://www.example/shop"]}'),
  },
  'a pointer without a slash': { file: operator('  content: {title: title}') },
  'a store of an unknown database': { file: operator('  store: mysql://bell:canary@db/bell') },
  'a SQLite store without a path': { file: operator('  store: "sqlite:"') },
  'a brand above the largest number': { file: operator('').replace('[1]', '[9223372036854775808]') },
  'a brand that is a word': { file: operator('').replace('[1]', '[main]') },
  'a kind of device that does not exist': {
    file: service('{provider: fcm, credentials_json: "{}"}\n      unregistered_targets: {kind: pager}'),
  },
  'VAPID keys and a contact of another form': {
    file: service('{provider: web-push, public_key: short, private_key: canary, subject: ops}'),
  },
  'a host of a push service with a path': {
    file: service('{provider: web-push, hosts: [push.example.com/path]}'),
  },
  'the name of a receiver with a slash': {
    file: operator(
      '  status: {receipts_from: [{name: a/b, secret: Bearer 0123456789abcdef, rules: [{at: /e, equals: o, status: opened}]}]}',
    ),
  },

  // Secrets: never repeated.
  'a key that is too short': { file: operator('').replace('operator-key-000000000001', 'canary') },
  'a secret of subscriber tokens that is too short': { file: operator('  app: {secrets: [canary-canary]}') },
  'a webhook secret of another form': { file: lane('      status: {webhook_secrets: [canary]}') },
  'a secret for receipts that is too short': {
    file: operator(
      '  status: {receipts_from: [{name: vendor, secret: canary, rules: [{at: /e, equals: o, status: opened}]}]}',
    ),
  },
  'a secret that is a list': { file: operator('').replace('operator-key-000000000001', '[canary]') },

  // Forms: lists, groups, variants.
  'a text instead of a list': { file: operator('  admin_keys: canary') },
  'a text instead of a group': { file: operator('  limits: none') },
  'a list instead of a group': { file: operator('  limits: [1]') },
  'a group instead of a text': { file: operator('  port: {number: 1}') },
  'a list instead of a variant': { file: operator('  push: [recording]') },
  'an empty list of keys': { file: 'operator:\n  keys: []\n  suppression: none\n' },
  'no keys': { file: 'operator:\n  suppression: none\n' },
  'a required value without a value': { file: operator('').replace('ft', '') },
  'the settings are a list': { file: '- operator\n' },
  'the file is no YAML': { file: 'operator:\n  keys: [\n' },
  'a setting that is written twice': { file: operator('  port: 1\n  port: 2') },

  // Unknown names.
  'a misspelt section': { file: operator('').replace('operator:', 'operater:') },
  'a misspelt setting': { file: operator('  supression: none') },
  'a setting in camel case': { file: lane('      perSecond: 5') },
  'a misspelt setting of a lane': { file: lane('      concurency: 5') },
  'a misspelt setting of a group': { file: lane('      retry: {frist: 1s}') },
  'a misspelt setting of a variant': { file: service('{provider: fcm, credentails: ./x.json}') },
  'a misspelt variant': { file: operator('  push: {provider: recordin}') },
  'a push service in the place of the provider': { file: operator('  push: {provider: fcm, credentials: sa.json}') },
  'an unknown variant': { file: lane('').replace('operator-api', 'pigeon') },
  'a name that resembles no setting': { file: operator('  xyzzy: 1') },
  'a misspelt scope': { file: platform('  keys: [{name: crm, key: platform-key-00000000001, scopes: [enque]}]') },
  'a misspelt risk': { file: 'accept_risks: [weak_key]\n' },

  // Settings that contradict each other.
  'two keys with one name': {
    file: operator(
      '  admin_keys:\n    - {name: a, key: admin-key-0000000000001, scopes: [counts, read]}\n    - {name: a, key: admin-key-0000000000002, scopes: [counts, read]}',
    ),
  },
  'one key twice': {
    file: operator(
      '  admin_keys:\n    - {name: a, key: admin-key-0000000000001, scopes: [counts, read]}\n    - {name: b, key: admin-key-0000000000001, scopes: [counts, read]}',
    ),
  },
  'one key as text and as SHA-256': {
    file: operator(
      `  admin_keys:\n    - {name: a, key: admin-key-0000000000001, scopes: [counts]}\n    - {name: b, key_sha256: ${hash('sha256', 'admin-key-0000000000001')}, scopes: [counts]}`,
    ),
  },
  'a key without text and SHA-256': { file: platform('  keys: [{name: crm, scopes: [counts]}]') },
  'a key with text and SHA-256': {
    file: platform(
      `  keys: [{name: crm, key: platform-key-00000000001, key_sha256: ${hash('sha256', 'other')}, scopes: [counts]}]`,
    ),
  },
  'a SHA-256, an expiry and a network that cannot be read': {
    file: platform(
      '  keys: [{name: crm, key_sha256: abc, expires_at: 2027-01-31, from: [10.0.0.0/33], scopes: [counts]}]',
    ),
  },
  'a brand and channel with two lanes': { file: lane(`    - {brand: 1, channel: push, to: ${to}}`) },
  'a lane for own delivery without a provider': { file: platform('  lanes: [{brand: 1, channel: push, to: own}]') },
  'an own provider without a lane': { file: platform('  own: {push: recording, suppression: none}') },
  'a key for links without a brand': {
    file: platform('  keys: [{name: links, key: platform-key-00000000001, scopes: [devices]}]'),
  },
  'a key of transactional messages that does not exist': { file: lane('      transactional: {keys: [login]}') },
  'a lane without an API key': { file: lane('').replace(/, api_key: [^}]+/, '') },
  'a backoff that begins above its end': { file: lane('      retry: {first: 10min, most: 1min}') },
  'polling of a module': {
    file: platform('  lanes: [{brand: 1, channel: push, to: {module: ./mine.ts}, status: {poll: 10s}}]'),
  },
  'the statuses of a brand are sent twice': {
    file: webhook(
      `{webhook: "https://p.example", secrets: [${secret}]}\n      - {brand: 1, to: {webhook: "https://q.example", secrets: [${secret}]}}`,
    ),
  },
  'receipts without subscriber tokens': { file: operator('  status: {receipts: "https://www.example.com"}') },
  'a brand that is published twice': {
    file: operator(
      '  publish:\n    - {brand: 1, to: {rest: "https://p.example", api_key: k}}\n    - {brand: 1, to: {rest: "https://q.example", api_key: k}}',
    ),
  },
  'two brands in one queue without origins': {
    file: operator(
      '  publish:\n    - {brand: 1, to: {amqp: "amqp://127.0.0.1", routing_key: q}}\n    - {brand: 2, to: {amqp: "amqp://127.0.0.1", routing_key: q}}',
    ),
  },
  'a queue of links without a brand': { file: platform('  device_links: [{from: {amqp: "amqp://127.0.0.1"}}]') },
  'a queue that is consumed twice': {
    file: platform(
      '  intake:\n    - {from: {amqp: "amqp://127.0.0.1", queue: q}}\n    - {from: {amqp: "amqp://127.0.0.1", queue: q}}',
    ),
  },
  'a user name for Kafka without a password': {
    file: platform('  intake: [{from: {kafka: ["127.0.0.1:9092"], username: bell}}]'),
  },
  'no source of attributes for a brand': { file: operator('').replace('  suppression: none\n', '') },
  'a query that ignores the brand': {
    file: operator(
      '  attributes: [{sql: "postgres://127.0.0.1/crm", queries: {blocked: select id from users}}]',
    ).replace('[1]', '[1, 2]'),
  },
  'a list that is compared twice': {
    file: platform(
      '  reconciliation:\n    - {brand: 1, url: "https://a.example", api_key: k, fields: [blocked]}\n    - {brand: 1, url: "https://b.example", api_key: k, fields: [blocked]}',
    ),
  },
  'both sides with one store and one port': {
    file: `${operator('  store: sqlite:a.db\n  port: 7100\n')}platform: {store: sqlite:a.db, port: 7100}\n`,
  },
  'a rule for a push service that does not exist': {
    file: service('{provider: fcm, credentials_json: "{}"}\n      presentation: [{services: [fmc], sound: none}]'),
  },
  'a template with an unknown placeholder': {
    file: operator('  push: {http: {url: "https://p.example/{{user}}", body: {a: 1}}}')
      .replace('{http: {', '{provider: http, ')
      .replace('}}}', '}}'),
  },
  'stores beside a SQLite file': {
    file: platform('  stores: [{number: 1, url: "postgres://127.0.0.1/a", brands: [2]}]'),
  },

  'a push service for an unknown brand': { file: service('{provider: fcm, credentials_json: "{}", brands: [9]}') },
  'a source of attributes for an unknown brand': {
    file: operator('  attributes: [{file: ./users.csv}, {file: ./more.csv, brands: [9]}]'),
  },
  'a webhook for an unknown brand': {
    file: webhook(`{webhook: "https://p.example", secrets: [${secret}]}`).replace('brand: 1\n', 'brand: 9\n'),
  },
  'records for a brand without a lane': {
    file: platform('  intake: [{from: {amqp: "amqp://127.0.0.1"}, brands: [9]}]'),
  },

  // Risks.
  'administration on a public address': { file: operator('  host: 0.0.0.0') },
  'an API key in clear text to another host': { file: lane('').replace('https:', 'http:') },
  'a key that is easy to guess': { file: operator('').replace('operator-key-000000000001', 'abababababababababab') },
  'an example key on a public address': {
    file: operator('  host: 0.0.0.0\n  admin: {port: 7101}').replace('operator-key', 'example-operator-key'),
  },
  'one key for two purposes': {
    file: operator('  admin_keys: [{name: a, key: operator-key-000000000001, scopes: [counts, read]}]'),
  },

  // The environment.
  'a variable of a number out of bounds': { file: operator(''), env: { BELLWIRE_OPERATOR_PORT: '70000' } },
  'a misspelt variable': { file: operator(''), env: { BELLWIRE_OPERATOR_PROT: '7001' } },
  'a variable that resembles no setting': { file: operator(''), env: { BELLWIRE_XYZZY: '1' } },
  'a variable for an item after a gap': { file: operator(''), env: { BELLWIRE_OPERATOR_KEYS_5_NAME: 'b' } },
  'a short key from a variable': { file: operator(''), env: { BELLWIRE_OPERATOR_KEYS_0_KEY: 'canary' } },
  'a file of a secret that does not exist': {
    file: operator(''),
    env: { BELLWIRE_OPERATOR_KEYS_0_KEY_FILE: '/never/there' },
  },
  'a list in a variable that is no YAML': { file: operator(''), env: { BELLWIRE_OPERATOR_ADMIN_KEYS: '[' } },
  'two variables for one setting': {
    file: operator(''),
    env: {
      BELLWIRE_OPERATOR_KEYS_0_KEY: 'operator-key-000000000002',
      BELLWIRE_OPERATOR_KEYS_0_KEY_FILE: '/never/there',
    },
  },
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the references of the configuration file
  'a reference to a variable that is not set': { file: operator('  store: ${NEVER_SET}') },
  'a reference that is no name': { file: operator('  store: ${NEVER SET}') },
  'a reference to a variable of another kind': { file: operator('  port: ${PORT_NAME}'), env: { PORT_NAME: 'http' } },
  'a reference to a secret of another kind': {
    file: operator('').replace('operator-key-000000000001', '"${SECRET_NAME}"'),
    env: { SECRET_NAME: 'canary' },
  },
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the references of the configuration file
}
