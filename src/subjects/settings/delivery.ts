// The settings of delivery: the providers of the operator, and the providers that a platform has of its own.

import { duration, integer, longKey, origin, path, pointer, yesNo } from '../../base/runtime/kinds.ts'
import { group, list, type ValueOf, variants } from '../../base/runtime/setting.ts'
import { devices } from './devices.ts'
import { httpUserSettings } from './services/http.ts'
import { moduleOf, suppressionRules } from './shared.ts'
import { receiptSettings } from './status.ts'

const recording = {
  file: path({ help: 'Writes messages to this NDJSON file instead of sending them.', optional: true }),
}
const module = moduleOf('provider')

export const pushProvider = (help: string) =>
  variants(
    {
      help,
      optional: true,
      section: 'Push messages',
      sections: { http: 'Any other provider over HTTP' },
      remedy:
        'write push: {devices: {source: registry, services: [{provider: fcm, credentials: …}]}}, or see docs/push.md',
    },
    {
      devices: { devices },
      recording,
      http: httpUserSettings,
      module,
    },
  )

export const siteProvider = (help: string) =>
  variants(
    { help, optional: true, section: 'On-site messages', remedy: 'write site: inbox, or site: {module: ./mine.ts}' },
    { inbox: {}, module },
  )

export const app = group(
  'Your pages and apps',
  {
    secrets: list(longKey({ help: 'A secret.' }), {
      help: 'Secrets of subscriber tokens: the first one signs, all of them verify.',
      minItems: 1,
      remedy: 'make one with: openssl rand -hex 32',
    }),
    origins: list(origin({ help: 'An origin.' }), { help: 'The sites whose pages may call /app from a browser.' }),
    streams: integer(1, 1_000_000, {
      help: 'The most open inbox streams; further ones are answered 503. Keep it well below operator.connections.',
      default: '10000',
    }),
  },
  { optional: true },
)

export const content = group('Content of a message', {
  title: pointer({ help: 'The title.', default: '/title' }),
  body: pointer({ help: 'The text.', default: '/body' }),
  image_url: pointer({ help: 'The URL of an image.', default: '/image_url', option: 'image_url' }),
  url: pointer({ help: 'The URL that a click opens.', default: '/url' }),
  data: pointer({ help: 'An object for the page or the app.', default: '/data' }),
  expires_at: pointer({
    help: 'The time after which the message is not sent: a date and time with its zone, or the seconds since 1970.',
    default: '/expires_at',
    option: 'expires_at',
  }),
  token: pointer({ help: 'Push: the device token of a message for one device.', default: '/token' }),
  tokens: pointer({ help: 'Push: the tokens of several devices.', default: '/tokens' }),
  recipient: pointer({
    help: 'Push: another place of a device token. Default: none, since some platforms write an address there.',
    optional: true,
  }),
  overrides: pointer({
    help: 'Push: an object with additional fields for each kind of push service.',
    default: '/overrides',
  }),
  meta: list(pointer({ help: 'A position.' }), {
    help: 'The meta of each delivery status: the value at one position, or an object of several values, named by the ends of their pointers. Default: /meta.',
    optional: true,
    allowSingle: true,
    minItems: 1,
  }),
  required: yesNo({
    help: 'true: a message with neither title nor body fails. false: it is delivered with a warning.',
    default: 'false',
  }),
})

export const providerLimits = {
  provider_concurrency: integer(1, 100_000, { help: 'The most concurrent calls to a provider.', default: '100' }),
  provider_timeout: duration({ help: 'Timeout of one call to a provider.', default: '15s' }),
}

export type PushProviderConfig = NonNullable<ValueOf<ReturnType<typeof pushProvider>>>
export type ContentConfig = ValueOf<typeof content>

/** platform.own: delivery without an operator. */
export const own = group(
  'Delivery without an operator',
  {
    push: pushProvider('The provider of push messages. Default: none.'),
    site: siteProvider('The provider of on-site messages. Default: none.'),
    suppression: variants(
      {
        sections: 'Delivery without an operator: suppression',
        help: "Whether messages to blocked, excluded and unconsented users are suppressed. Default: by the CRM's attributes.",
        remedy: 'write suppression: {provider: crm}, or suppression: none to send to all users',
        optional: true,
      },
      {
        crm: suppressionRules,
        none: {},
      },
    ),
    app,
    status: group('', receiptSettings),
    content,
    limits: group('', providerLimits),
  },
  { optional: true },
)
