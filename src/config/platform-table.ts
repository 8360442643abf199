// The settings of the platform's side.

import { deviceLinks } from './device-channels-settings.ts'
import { devicesPerUser } from './device-limits-settings.ts'
import { brand, duration, integer, oneOf, size, store, text, url, yesNo } from './kinds.ts'
import { reconciliation } from './reconciliation-settings.ts'
import { group, list, variants } from './setting.ts'
import { accessKeys, listening, moduleOf, requestBodies } from './shared-settings.ts'

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

export const platform = group(
  { says: 'The engine that calls operators.', optional: true },
  {
    ...listening('7002', '7102'),
    store: store({
      says: "Where the queue and Failed Actions are kept. Never the operator's.",
      default: 'sqlite:platform.db',
      secret: true,
    }),
    keys: accessKeys("Keys for the platform's API."),
    device_links: deviceLinks,
    devices_per_user: devicesPerUser,
    lanes: list(lane, { says: 'Where the messages of each brand and channel go, and how.' }),
    reconciliation,
    body: size({ says: 'Largest JSON request; NDJSON has no limit.', default: '16MiB' }),
    ...requestBodies,
    keep: duration({
      says: 'How long settled messages and calls are kept; longer than any retry or replay.',
      default: '90d',
    }),
  },
)
