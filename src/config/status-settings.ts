// Delivery statuses at the operator (§1.5, rows 23 to 25).

import { webhookKey } from '../contract/webhook-signature.ts'
import { brand, duration, integer, kind, text, url, yesNo } from './kinds.ts'
import { group, list, type ValueOf, variants } from './setting.ts'

/** A secret of Standard Webhooks. Both sides have the same one. */
export const webhookSecret = kind('whsec_ and the base64 form of 24 to 64 bytes', (text) =>
  webhookKey(text) === undefined ? undefined : text,
)
export const makeWebhookSecret = 'make one with: echo "whsec_$(openssl rand -base64 32)"'

const connections = integer(
  1,
  1_000,
)({ help: 'The most concurrent calls. Calls for one message are never concurrent.', default: '4' })

export const statusSettings = group(
  {
    help: 'Records the delivery statuses of messages, with their meta, and returns them to the platform. Default: none are recorded.',
    optional: true,
  },
  {
    polling: yesNo({
      help: 'Whether the platform can read statuses at GET /messages/status, with its API key.',
      default: 'true',
    }),
    receipts: url({
      help: 'The public address of this operator for service workers: {base_url}. With it, each Web Push payload has a receipt token. Needs operator.app. Default: none.',
      optional: true,
    }),
    webhooks: list(
      group(
        { help: 'One brand.' },
        {
          brand: brand({ help: 'The brand whose statuses are sent.' }),
          to: variants(
            {
              help: 'The webhook of the platform.',
              remedy: 'write to: {webhook: https://…, secrets: [whsec_…]}, as agreed with the platform',
            },
            {
              webhook: {
                webhook: url({ help: "The platform's {platform_url}. /v1/integration/message/status is appended." }),
                secrets: list(
                  webhookSecret({ help: 'A secret of Standard Webhooks.', secret: true, remedy: makeWebhookSecret }),
                  {
                    help: 'The secrets that sign each call: one, or two while a secret is replaced.',
                    minItems: 1,
                    remedy: makeWebhookSecret,
                  },
                ),
                api_key: text({
                  help: 'An API key issued by the platform, sent as X-Api-Key. Default: none.',
                  secret: true,
                  optional: true,
                }),
                max: integer(
                  1,
                  1_000,
                )({
                  help: 'The most statuses in one call. 1: each body is one record; otherwise it is an array.',
                  default: '100',
                }),
                connections,
              },
              callback: {
                callback: url({
                  help: "The address of the vendor's callback, with its path. Use it only for a platform that knows no other form. It takes delivered, opened and clicked, of push messages.",
                }),
                username: text({ help: 'The name for HTTP Basic authentication.', default: 'fasttrack' }),
                password: text({ help: 'The password for HTTP Basic authentication.', secret: true }),
                connections,
              },
            },
          ),
          timeout: duration({ help: 'Timeout of one call.', default: '15s' }),
          retry: group(
            {
              help: 'Backoff. A failed call is retried until it succeeds; only the statuses 400, 413 and 422 are final.',
            },
            {
              first: duration({
                help: 'The upper bound of the first backoff; it doubles with each attempt (full jitter).',
                default: '1s',
              }),
              most: duration({ help: 'The longest backoff.', default: '5min' }),
            },
          ),
        },
      ),
      { help: 'Where the statuses of each brand are sent. A brand that is not listed can only be polled.' },
    ),
  },
)
type StatusConfig = ValueOf<typeof statusSettings>
export type StatusWebhookConfig = NonNullable<StatusConfig>['webhooks'][number]
