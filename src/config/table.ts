// Every setting there is. Checking, defaults, environment names, printing and docs/running.md all come from this table.

import {
  brand,
  duration,
  integer,
  key,
  longKey,
  oneOf,
  origin,
  path,
  pointer,
  size,
  store,
  text,
  url,
  yesNo,
} from './kinds.ts'
import { group, list, type ValueOf, variants } from './setting.ts'

const makeOne = 'make one with: openssl rand -hex 24'

const moduleOf = (what: string, exported: string) => ({
  module: path({ says: `A file of yours that exports ${what}.` }),
  name: text({ says: 'The name of its export.', default: exported }),
})

const listening = (port: string) => ({
  host: text({ says: 'The address to listen on; 0.0.0.0 for all.', default: '127.0.0.1' }),
  port: integer(0, 65_535)({ says: 'The port to listen on; 0 takes a free one.', default: port }),
  stop_within: duration({ says: 'How long a stop may take before the process ends regardless.', default: '20s' }),
})

const accessKeys = (what: string) =>
  list(
    group(
      { says: 'One key.' },
      {
        name: text({ says: 'Whose key it is.' }),
        key: key({ says: 'The key, sent as X-Api-Key.', secret: true, remedy: makeOne }),
        scopes: list(oneOf('enqueue', 'read', 'manage')({ says: 'What it may do.' }), {
          says: 'What it may do: enqueue, read, manage.',
          least: 1,
          remedy: 'write scopes: [read], or those of enqueue, read and manage that it needs',
        }),
        brands: list(brand({ says: 'A brand.' }), {
          says: 'The brands that it may see; left out: all.',
          optional: true,
          least: 1,
        }),
      },
    ),
    { says: what },
  )

const operator = group(
  { says: 'The API that an operator hosts (§4.1).', optional: true },
  {
    ...listening('7001'),
    store: store({
      says: "Where messages, outcomes and the inbox are kept. Never the platform's.",
      default: 'sqlite:operator.db',
      secret: true,
    }),
    keys: list(
      group(
        { says: 'One key.' },
        {
          name: text({ says: 'Whose key it is.' }),
          key: key({ says: 'The key, sent by the platform as X-Api-Key (§5).', secret: true, remedy: makeOne }),
          brands: list(brand({ says: 'A brand.' }), {
            says: 'The brands that it may send for (row 31).',
            least: 1,
            remedy: 'write brands: [1], with the brand_id that the platform sends',
          }),
        },
      ),
      {
        says: 'The API keys given to the platform. Several may live at once, so that a key can be replaced.',
        least: 1,
        remedy: 'the platform needs a key to call this API: add one under operator.keys',
      },
    ),
    admin_keys: accessKeys('Keys for /admin, for services of your own.'),
    push: variants(
      { says: 'Where push messages go. Left out: the push endpoints answer 503.', optional: true },
      {
        recording: {
          file: path({ says: 'Where messages are written instead of being sent, as NDJSON.', optional: true }),
        },
        module: moduleOf('a Provider', 'provider'),
      },
    ),
    site: variants(
      { says: 'Where on-site messages go. Left out: the on-site endpoints answer 503.', optional: true },
      { inbox: {}, module: moduleOf('a Provider', 'provider') },
    ),
    suppression: variants(
      {
        says: 'Who must not be messaged: blocked, excluded, inactive or unconsented users.',
        remedy: 'write suppression: {file: ./users.csv}, {module: ./mine.ts}, or none to send to everybody',
      },
      {
        none: {},
        file: {
          file: path({ says: 'A CSV or NDJSON file of user attributes: user_id, brand, blocked, excluded, …' }),
          brand: brand({ says: 'The brand of its users, where the file does not say it.', optional: true }),
        },
        module: moduleOf('an AttributeSource', 'source'),
      },
    ),
    app: group(
      { says: "What the operator's own pages need to show the inbox.", optional: true },
      {
        secrets: list(longKey({ says: 'A secret.', secret: true, remedy: 'make one with: openssl rand -hex 32' }), {
          says: 'Secrets of subscriber tokens: the first signs, all verify.',
          least: 1,
        }),
        origins: list(origin({ says: 'An origin.' }), { says: 'The sites whose pages may call /app from a browser.' }),
      },
    ),
    content: group(
      { says: 'Where the content stands in a request element, as JSON Pointers (row 4).' },
      {
        title: pointer({ says: 'The title.', default: '/title' }),
        body: pointer({ says: 'The text.', default: '/body' }),
        image_url: pointer({ says: 'The address of a picture.', default: '/image_url' }),
        url: pointer({ says: 'The address that opens.', default: '/url' }),
        data: pointer({ says: 'An object for the page or the app.', default: '/data' }),
      },
    ),
    keep: duration({
      says: 'How long messages, notifications and calls are kept; longer than any retry.',
      default: '90d',
    }),
    limits: group(
      { says: 'What the operator takes on at once.' },
      {
        body: size({ says: 'Largest request body.', default: '16MiB' }),
        batch: integer(1, 100_000)({ says: 'Most messages in one batch; the excess is fatal.', default: '10000' }),
        answer_budget: duration({
          says: "A request is answered within this time; keep it below the platform's timeout.",
          default: '20s',
        }),
        in_progress: integer(
          1,
          10_000_000,
        )({
          says: 'Most messages in progress; the excess is fatal.',
          default: '50000',
        }),
        provider_concurrency: integer(1, 100_000)({ says: 'Most calls to a provider at a time.', default: '100' }),
        provider_timeout: duration({ says: 'How long a call to a provider may take.', default: '15s' }),
      },
    ),
  },
)

const lane = group(
  { says: 'One brand and channel.' },
  {
    brand: brand({ says: 'The brand (brand_id).' }),
    channel: oneOf('push', 'site')({ says: 'The channel.' }),
    to: variants(
      {
        says: 'Who delivers its messages.',
        remedy: 'write to: {provider: operator-api, url: …, api_key: …}, or to: {module: ./mine.ts}',
      },
      {
        'operator-api': {
          url: url({ says: "The operator's {base_url}." }),
          api_key: text({ says: 'The key that the operator gave, sent as X-Api-Key (§5).', secret: true }),
        },
        module: moduleOf('a Provider', 'provider'),
      },
    ),
    mode: oneOf(
      'single',
      'batch',
    )({ says: 'One message in a request, or many; as the operator wants it.', default: 'batch' }),
    max: integer(
      1,
      1_000_000,
    )({
      says: 'A batch goes when it has so many messages (§4.1 rule 3); single: 1.',
      default: '500',
    }),
    bytes: size({ says: 'A batch goes when it is so large.', default: '4MiB' }),
    span: duration({ says: 'A batch goes when its first message has waited so long.', default: '200ms' }),
    concurrency: integer(1, 100_000)({ says: 'Most requests at a time.', default: '4' }),
    per_second: integer(
      1,
      10_000_000,
    )({
      says: 'Most messages a second, as the operator advised (§8.1).',
      optional: true,
    }),
    timeout: duration({ says: 'How long a request may take.', default: '30s' }),
    failed_actions: yesNo({ says: 'Keep failed messages in Failed Actions (§6.4); else only count.', default: 'true' }),
    retry: group(
      { says: 'When a fatal message is sent again.' },
      {
        first: duration({ says: 'The first wait, doubled each time, with full jitter.', default: '1s' }),
        most: duration({ says: 'The longest wait.', default: '5min' }),
        attempts: integer(
          1,
          1_000_000,
        )({
          says: 'Give up after so many attempts, into Failed Actions. Left out: never (§7.1).',
          optional: true,
        }),
      },
    ),
  },
)

const platform = group(
  { says: 'The engine that calls operators.', optional: true },
  {
    ...listening('7002'),
    store: store({
      says: "Where the queue and Failed Actions are kept. Never the operator's.",
      default: 'sqlite:platform.db',
      secret: true,
    }),
    keys: accessKeys("Keys for the platform's API."),
    lanes: list(lane, { says: 'Where the messages of each brand and channel go, and how.' }),
    body: size({ says: 'Largest JSON request; NDJSON has no limit.', default: '16MiB' }),
    keep: duration({
      says: 'How long settled messages and calls are kept; longer than any retry or replay.',
      default: '90d',
    }),
  },
)

const log = group(
  { says: 'The log, on standard output.' },
  {
    level: oneOf(
      'debug',
      'info',
      'warn',
      'error',
      'silent',
    )({ says: 'How much is logged; info has one line for each attempt.', default: 'info' }),
    format: oneOf('auto', 'json', 'text')({ says: 'auto: text on a terminal, JSON elsewhere.', default: 'auto' }),
  },
)

export const table = group({ says: 'The configuration of Bellwire.' }, { operator, platform, log })

export type Config = ValueOf<typeof table>
export type OperatorConfig = NonNullable<Config['operator']>
export type PlatformConfig = NonNullable<Config['platform']>
