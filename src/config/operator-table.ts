// The settings of the operator's side.

import { attributeSettings } from './attributes-settings.ts'
import { publish } from './device-channels-settings.ts'
import { deviceLimits } from './device-limits-settings.ts'
import { devices } from './devices-table.ts'
import { brand, duration, integer, key, longKey, origin, path, pointer, size, store, text, yesNo } from './kinds.ts'
import { httpUserSettings } from './services/http.ts'
import { group, list, variants } from './setting.ts'
import { accessKeys, listening, makeKey, moduleOf, requestBodies } from './shared-settings.ts'
import { statusSettings } from './status-settings.ts'

const messagesPerSecond = integer(1, 10_000_000)

export const operator = group(
  { help: 'The API that an operator hosts.', optional: true },
  {
    ...listening('7001', '7101'),
    store: store({
      help: 'The database for messages, outcomes and the inbox. It must not be the database of the platform.',
      default: 'sqlite:operator.db',
      secret: true,
    }),
    keys: list(
      group(
        { help: 'One key.' },
        {
          name: text({ help: 'The name of the key, for logs.' }),
          key: key({ help: 'The key, sent by the platform as X-Api-Key.', secret: true, remedy: makeKey }),
          brands: list(brand({ help: 'A brand.' }), {
            help: 'The brands for which the key may send.',
            minItems: 1,
            remedy: 'write brands: [1], with the brand_id that the platform sends',
          }),
          rate: group(
            {
              help: 'The rate that was agreed with the platform. Further messages are answered as fatal, with Retry-After.',
              optional: true,
            },
            {
              per_second: messagesPerSecond({
                help: 'The most messages of the key in a second, in each operator process. Default: no limit.',
                optional: true,
              }),
              per_brand: messagesPerSecond({
                help: 'The most messages of each brand of the key in a second, in each operator process. Default: no limit.',
                optional: true,
              }),
            },
          ),
        },
      ),
      {
        help: 'The API keys issued to the platform. Several keys may be valid at once, so that a key can be rotated.',
        minItems: 1,
        remedy: 'the platform needs a key to call this API: add one under operator.keys',
      },
    ),
    admin_keys: accessKeys('The API keys for /admin, for your own services.'),
    push: variants(
      { help: 'The provider for push messages. Default: none; the push endpoints answer 503.', optional: true },
      {
        devices: { devices },
        recording: {
          file: path({ help: 'Writes messages to this NDJSON file instead of sending them.', optional: true }),
        },
        http: httpUserSettings,
        module: moduleOf('provider'),
      },
    ),
    site: variants(
      { help: 'The provider for on-site messages. Default: none; the on-site endpoints answer 503.', optional: true },
      { inbox: {}, module: moduleOf('provider') },
    ),
    ...attributeSettings,
    publish,
    device_limits: deviceLimits,
    app: group(
      { help: "The API for the operator's own pages and apps.", optional: true },
      {
        secrets: list(longKey({ help: 'A secret.', secret: true, remedy: 'make one with: openssl rand -hex 32' }), {
          help: 'Secrets of subscriber tokens: the first one signs, all of them verify.',
          minItems: 1,
        }),
        origins: list(origin({ help: 'An origin.' }), { help: 'The sites whose pages may call /app from a browser.' }),
        streams: integer(
          1,
          1_000_000,
        )({
          help: 'The most open inbox streams; further ones are answered 503. Keep it well below operator.connections.',
          default: '10000',
        }),
        streams_per_user: integer(
          1,
          10_000,
        )({ help: 'The most open inbox streams of one user; further ones are answered 429.', default: '10' }),
      },
    ),
    status: statusSettings,
    content: group(
      { help: 'JSON Pointers to the content within a request element.' },
      {
        title: pointer({ help: 'The title.', default: '/title' }),
        body: pointer({ help: 'The text.', default: '/body' }),
        image_url: pointer({ help: 'The URL of an image.', default: '/image_url' }),
        url: pointer({ help: 'The URL that a click opens.', default: '/url' }),
        data: pointer({ help: 'An object for the page or the app.', default: '/data' }),
        expires_at: pointer({
          help: 'The time after which the message is not sent: a date and time with its zone, or the seconds since 1970. It only shortens the lifetime.',
          default: '/expires_at',
        }),
        token: pointer({ help: 'Push: the device token of a message for one device.', default: '/token' }),
        tokens: pointer({ help: 'Push: the tokens of several devices.', default: '/tokens' }),
        recipient: pointer({ help: 'Push: another name of `token`.', default: '/recipient' }),
        overrides: pointer({
          help: 'Push: an object with additional fields for each kind of push service.',
          default: '/overrides',
        }),
        required: yesNo({
          help: 'true: a message with neither title nor body fails. false: it is delivered, and a warning is logged. Set it to true once the pointers are right.',
          default: 'false',
        }),
      },
    ),
    keep: duration({
      help: 'How long messages and notifications are kept. It must be longer than any retry.',
      default: '90d',
    }),
    keep_contents: duration({
      help: 'How long request bodies, attempts and calls are kept, at most `keep`. The row of the message itself stays for `keep`.',
      default: '14d',
    }),
    limits: group(
      { help: 'Limits on requests and on concurrent work.' },
      {
        body: size({ help: 'The largest request body.', default: '16MiB' }),
        ...requestBodies,
        batch: integer(1, 100_000)({ help: 'The most messages in one batch; the excess is fatal.', default: '10000' }),
        answer_budget: duration({
          help: "Every request is answered within this time. Keep it below the platform's timeout.",
          default: '20s',
        }),
        in_progress: integer(
          1,
          10_000_000,
        )({
          help: 'The most messages in progress; the excess is fatal. A brand below its fair share is admitted even above the limit, so that the backlog of another brand does not block it.',
          default: '50000',
        }),
        provider_concurrency: integer(1, 100_000)({ help: 'The most concurrent calls to a provider.', default: '100' }),
        provider_timeout: duration({ help: 'Timeout of one call to a provider.', default: '15s' }),
      },
    ),
  },
)
