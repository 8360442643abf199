// The settings of the platform's side.

import {
  brand,
  duration,
  integer,
  oneOf,
  path,
  pointer,
  size,
  store,
  text,
  url,
  yesNo,
} from '../../base/runtime/kinds.ts'
import { group, list, rows, variants } from '../../base/runtime/setting.ts'
import { addressSettings } from './address.ts'
import { alerts } from './alerts.ts'
import { consoleSignIn } from './console.ts'
import { own } from './delivery.ts'
import { deviceLinks } from './device-channels.ts'
import { devicesPerUser } from './device-limits.ts'
import { intake } from './intake.ts'
import { reconciliation } from './reconciliation.ts'
import { accessKeys, backoff, issuedKey, listening, moduleOf, requestBodies, retention, stores } from './shared.ts'
import { webhookSecret } from './status.ts'

export const laneSettings = {
  brand: brand({ help: 'The brand (brand_id).' }),
  channel: oneOf(['push', 'site'], { help: 'The channel.' }),
  profile: path({
    help: "The operator's integration profile, a JSON file, for the limits that the lane does not set. Those that it sets must keep within the profile.",
    optional: true,
  }),
  to: variants(
    {
      help: 'The provider that delivers its messages.',
      sections: { 'operator-api': 'Calls to an operator' },
      remedy: 'write to: {provider: operator-api, url: …, api_key: …}, to: own, or to: {module: ./mine.ts}',
    },
    {
      'operator-api': {
        url: url({ help: "The operator's {base_url}." }),
        api_key: issuedKey('The API key issued by the operator, sent as X-Api-Key. Optional with `auth`.'),
        ...addressSettings,
      },
      own: {},
      module: moduleOf('provider'),
    },
  ),
  mode: oneOf(['single', 'batch'], {
    help: 'Whether a request carries one message or a batch, as the operator requires.',
    default: 'batch',
  }),
  max: integer(1, 1_000_000, {
    help: 'A batch is sent when it has this many messages. With mode single, write 1.',
    default: '500',
  }),
  bytes: size({ help: 'A batch is sent when it has this size.', default: '4MiB', option: 'bytes' }),
  span: duration({ help: 'A batch is sent when its first message has waited this long.', default: '200ms' }),
  concurrency: integer(1, 100_000, { help: 'The most concurrent requests.', default: '4' }),
  per_second: integer(1, 10_000_000, {
    help: 'The most messages per second, as the operator advised. Default: no limit.',
    optional: true,
  }),
  timeout: duration({ help: 'Timeout of one request.', default: '30s' }),
  failed_actions: yesNo({ help: 'Keep failed messages in Failed Actions; false: only count.', default: 'true' }),
  expires: group('A lane: expiry', {
    at: pointer({
      help: 'The position of the expiry in a record: a date and time with its zone, or the seconds since 1970.',
      default: '/expires_at',
    }),
    after: duration({
      help: 'A record without an expiry expires this long after it was enqueued, and is sent with this expiry. Default: never.',
      optional: true,
    }),
  }),
  transactional: group('A lane: transactional messages', {
    at: pointer({
      help: 'The position of the priority in a record, which is then `transactional`.',
      default: '/priority',
    }),
    activities: list(text({ help: 'An activity_id.' }), { help: 'The activities (activity_id).' }),
    keys: list(text({ help: 'The name of an API key.' }), { help: 'The names of the API keys that enqueue.' }),
  }),
  status: group('Delivery status of a lane', {
    webhook_secrets: list(webhookSecret({ help: 'A secret of the Standard Webhooks scheme.' }), {
      option: 'secrets',
      help: 'The secrets with which the operator signs its calls; two during a rotation. Lanes of the same operator may have the same secrets. Never give two operators the same.',
    }),
    poll: duration({
      help: 'The time between two requests for new statuses to the operator, with the API key of the lane. Only with provider `operator-api`. Default: statuses are not polled.',
      optional: true,
    }),
  }),
  retry: group('Retries', {
    ...backoff,
    attempts: integer(1, 1_000_000, {
      help: 'After this many attempts a message goes to Failed Actions. Default: no limit.',
      optional: true,
    }),
  }),
}

export const platform = group(
  'Server',
  {
    ...listening('7002', '7102'),
    store: store({
      section: 'Store',
      help: 'The database for the queue and Failed Actions. It must not be the database of the operator.',
      default: 'sqlite:platform.db',
    }),
    stores,
    keys: accessKeys("The API keys for the platform's API."),
    intake,
    device_links: deviceLinks,
    devices_per_user: devicesPerUser,
    lanes: rows('The lanes: one for each brand and channel.', laneSettings, { section: 'Lanes' }),
    own,
    reconciliation,
    body: size({
      section: 'Request bodies',
      help: 'The largest JSON request body. NDJSON has no limit.',
      default: '16MiB',
    }),
    ...requestBodies,
    ...retention({
      keep: 'How long settled messages are kept. It must be longer than any retry or replay.',
      contents: 'How long attempts and calls are kept, at most `keep`.',
    }),
    console: consoleSignIn,
    alerts,
  },
  { optional: true },
)
