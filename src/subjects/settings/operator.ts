// The settings of the operator's side.

import { brand, duration, integer, oneOf, size, store } from '../../base/runtime/kinds.ts'
import { group, list, rows } from '../../base/runtime/setting.ts'
import { alerts } from './alerts.ts'
import { attributeSettings } from './attributes.ts'
import { consoleSignIn } from './console.ts'
import { app, content, providerLimits, pushProvider, siteProvider } from './delivery.ts'
import { publish } from './device-channels.ts'
import { deviceLimits } from './device-limits.ts'
import { acceptedKey, accessKeys, listening, requestBodies, retention, someOf } from './shared.ts'
import { statusSettings } from './status.ts'

/** The endpoints of the interface: those that take messages, GET /messages/status, and the lists of users. */
export const sendingScopes = ['send', 'statuses', 'reconciliation'] as const

export const operator = group(
  'Server',
  {
    ...listening('7001', '7101'),
    store: store({
      section: 'Store',
      help: 'The database for messages, outcomes and the inbox. It must not be the database of the platform.',
      default: 'sqlite:operator.db',
    }),
    keys: rows(
      'The API keys issued to the platform.',
      {
        ...acceptedKey('The key, sent by the platform as X-Api-Key.'),
        brands: list(brand({ help: 'A brand.' }), {
          help: 'The brands for which the key may send.',
          minItems: 1,
          remedy: "write brands: ['1'], with the brand_id that the platform sends",
        }),
        scopes: someOf(
          oneOf(sendingScopes, { help: 'A scope.' }),
          'The endpoints that the key may call: sends, statuses, lists of users. Default: all.',
        ),
        rate: group(
          '',
          {
            per_second: integer(1, 10_000_000, {
              help: 'The most messages of the key in a second, in each operator process. Default: no limit.',
              optional: true,
            }),
            per_brand: integer(1, 10_000_000, {
              help: 'The most messages of each brand of the key in a second, in each operator process. Default: no limit.',
              optional: true,
            }),
          },
          { optional: true },
        ),
      },
      {
        minItems: 1,
        remedy: 'the platform needs a key to call this API: add one under keys',
        section: 'Keys of the platform',
      },
    ),
    admin_keys: accessKeys('The API keys for /admin, for your own services.'),
    push: pushProvider('The provider for push messages. Default: none; the push endpoints answer 503.'),
    site: siteProvider('The provider for on-site messages. Default: none; the on-site endpoints answer 503.'),
    ...attributeSettings,
    publish,
    device_limits: deviceLimits,
    app,
    status: statusSettings,
    content,
    ...retention({
      keep: 'How long messages and notifications are kept. It must be longer than any retry.',
      contents: 'How long request bodies, attempts and calls are kept, at most `keep`.',
    }),
    console: consoleSignIn,
    alerts,
    limits: group('Work in progress', {
      body: size({ section: 'Request bodies', help: 'The largest request body.', default: '16MiB' }),
      ...requestBodies,
      batch: integer(1, 100_000, {
        help: 'The most messages in one batch; the excess is fatal.',
        default: '10000',
        option: 'batchMax',
      }),
      answer_budget: duration({
        help: "Every request is answered within this time. Keep it below the platform's timeout.",
        default: '20s',
      }),
      in_progress: integer(1, 10_000_000, {
        help: 'The most messages in progress; the excess is fatal, unless its brand is below its fair share.',
        default: '50000',
      }),
      ...providerLimits,
    }),
  },
  { optional: true },
)
