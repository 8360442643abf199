// The settings of the operator's side.

import { attributeSettings } from './attributes-settings.ts'
import { publish } from './device-channels-settings.ts'
import { deviceLimits } from './device-limits-settings.ts'
import { devices } from './devices-table.ts'
import { brand, duration, integer, key, longKey, origin, path, pointer, size, store, text, yesNo } from './kinds.ts'
import { httpUserSettings } from './services/http.ts'
import { group, list, variants } from './setting.ts'
import { accessKeys, listening, makeOne, moduleOf, requestBodies } from './shared-settings.ts'

export const operator = group(
  { says: 'The API that an operator hosts (§4.1).', optional: true },
  {
    ...listening('7001', '7101'),
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
        devices: { devices },
        recording: {
          file: path({ says: 'Where messages are written instead of being sent, as NDJSON.', optional: true }),
        },
        http: httpUserSettings,
        module: moduleOf('a Provider', 'provider'),
      },
    ),
    site: variants(
      { says: 'Where on-site messages go. Left out: the on-site endpoints answer 503.', optional: true },
      { inbox: {}, module: moduleOf('a Provider', 'provider') },
    ),
    ...attributeSettings,
    publish,
    device_limits: deviceLimits,
    app: group(
      { says: "What the operator's own pages need to show the inbox.", optional: true },
      {
        secrets: list(longKey({ says: 'A secret.', secret: true, remedy: 'make one with: openssl rand -hex 32' }), {
          says: 'Secrets of subscriber tokens: the first signs, all verify.',
          least: 1,
        }),
        origins: list(origin({ says: 'An origin.' }), { says: 'The sites whose pages may call /app from a browser.' }),
        streams: integer(
          1,
          1_000_000,
        )({
          says: 'The most open inbox streams; more are answered 503. Keep it well below operator.connections.',
          default: '10000',
        }),
        streams_per_user: integer(
          1,
          10_000,
        )({ says: 'The most open inbox streams of one user; more are answered 429.', default: '10' }),
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
        token: pointer({ says: 'Push: the one device token that the message is for.', default: '/token' }),
        tokens: pointer({ says: 'Push: several device tokens.', default: '/tokens' }),
        recipient: pointer({ says: 'Push: a device token, under its other name.', default: '/recipient' }),
        overrides: pointer({
          says: 'Push: an object of what single push services are told beside the content, by kind.',
          default: '/overrides',
        }),
        required: yesNo({
          says: 'true: a message with neither title nor body is failed. false: it is delivered, with a warning. Set it once the pointers are right.',
          default: 'false',
        }),
      },
    ),
    keep: duration({
      says: 'How long messages and notifications are kept; longer than any retry.',
      default: '90d',
    }),
    keep_contents: duration({
      says: 'How long request bodies, attempts and calls are kept; at most as long as `keep`. A message’s own row stays for `keep`.',
      default: '14d',
    }),
    limits: group(
      { says: 'What the operator takes on at once.' },
      {
        body: size({ says: 'Largest request body.', default: '16MiB' }),
        ...requestBodies,
        batch: integer(1, 100_000)({ says: 'Most messages in one batch; the excess is fatal.', default: '10000' }),
        answer_budget: duration({
          says: "A request is answered within this time; keep it below the platform's timeout.",
          default: '20s',
        }),
        in_progress: integer(
          1,
          10_000_000,
        )({
          says: 'Most messages in progress; the excess is fatal. A brand with less than its share of them is let in even then, so that another brand’s backlog does not keep its messages out.',
          default: '50000',
        }),
        provider_concurrency: integer(1, 100_000)({ says: 'Most calls to a provider at a time.', default: '100' }),
        provider_timeout: duration({ says: 'How long a call to a provider may take.', default: '15s' }),
      },
    ),
  },
)
