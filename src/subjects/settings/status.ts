// Delivery statuses at the operator (§1.5, rows 23 to 25).

import { baseUrl, brand, duration, integer, kind, oneOf, pointer, text, url, yesNo } from '../../base/runtime/kinds.ts'
import { group, json, list, rows, type ValueOf, variants } from '../../base/runtime/setting.ts'
import { messageStatuses } from '../../contract/status.ts'
import { webhookKey } from '../../contract/webhook-signature.ts'
import { addressSettings, authRemedy, authVariants, connectionSettings } from './address.ts'
import { httpAuth, httpHeaders, httpRule, httpSecrets } from './services/http.ts'
import { backoff, issuedKey } from './shared.ts'

/** A secret of Standard Webhooks. Both sides have the same one. */
export const webhookSecret = kind(
  'whsec_ and the base64 form of 24 to 64 bytes',
  (text) => (webhookKey(text) === undefined ? undefined : text),
  { secret: true, remedy: 'make one with: echo "whsec_$(openssl rand -base64 32)"' },
)

/** The provider's own choice may contain spaces. */
const receiptSecret = kind('at least 16 characters', (text) => (text.length >= 16 ? text : undefined), {
  ownApiKey: true,
})

const pathPart = kind('letters, digits and hyphens', (text) => (/^[A-Za-z0-9-]{1,64}$/.test(text) ? text : undefined))

const connections = integer(1, 1_000, {
  help: 'The most concurrent calls. Calls for one message are never concurrent.',
  default: '4',
})

/** The receipts of browsers and providers, at a side that delivers messages. */
export const receiptSettings = {
  receipts: baseUrl({
    help: 'The public address of this side for service workers: each Web Push payload then has a receipt token. Needs `app`. Default: none.',
    sendsTokens: true,
    optional: true,
  }),
  receipts_from: rows(
    'The providers that report delivery statuses.',
    {
      name: pathPart({ help: 'The last part of the address: the provider calls POST /receipts/NAME.' }),
      header: text({ help: 'The header that authenticates the provider.', default: 'authorization' }),
      secret: receiptSecret({ help: 'The whole value of the header, such as "Bearer …".', secret: true }),
      events: pointer({
        help: 'The list of events in the body. Default: the body, which is one event or a list.',
        optional: true,
      }),
      id: pointer({ help: 'The push_id in an event.', default: '/push_id' }),
      time: pointer({
        help: 'The time of an event: RFC 3339, or seconds since 1970. Default: the time of receipt.',
        optional: true,
      }),
      rules: rows(
        'The rules that map events to statuses.',
        {
          at: pointer({ help: 'A value of the event.' }),
          equals: text({ help: 'The value, as text.' }),
          status: oneOf(messageStatuses, { help: 'The status.' }),
        },
        { minItems: 1, remedy: 'write rules: [{at: /event, equals: opened, status: opened}]' },
      ),
    },
    { section: 'Delivery status: receipts of providers' },
  ),
}

/** The webhook of the interface. */
export const webhookSettings = {
  webhook: url({
    help: "The platform's {platform_url}. /v1/integration/message/status is appended.",
    option: 'url',
  }),
  secrets: list(webhookSecret({ help: 'A secret of Standard Webhooks.' }), {
    help: 'The secrets that sign each call: one, or two while a secret is replaced.',
    minItems: 1,
    remedy: 'write secrets: [whsec_…], as agreed with the platform',
  }),
  api_key: issuedKey('An API key issued by the platform, sent as X-Api-Key. Default: none.'),
  ...addressSettings,
  max: integer(1, 1_000, {
    help: 'The most statuses in one call. 1: each body is one record; otherwise it is an array.',
    default: '100',
  }),
  connections,
}

export const statusSettings = group(
  'Delivery status',
  {
    polling: yesNo({
      help: 'Whether the platform can read statuses at GET /messages/status, with its API key.',
      default: 'true',
    }),
    ...receiptSettings,
    webhooks: rows('Where the statuses of each brand are sent. A brand that is not listed can only be polled.', {
      brand: brand({ help: 'The brand whose statuses are sent.' }),
      to: variants(
        {
          sections: {
            webhook: 'Delivery status: webhook',
            template: 'Delivery status: calls of another form',
            callback: "Delivery status: the vendor's callback",
          },
          help: 'The webhook of the platform.',
          remedy:
            'write to: {webhook: https://…, secrets: [whsec_…]}, or to: {template: https://…, body: …}, as agreed with the platform',
        },
        {
          webhook: webhookSettings,
          template: {
            template: text({
              help: 'The address of a platform with calls of its own form. Path and query may contain {{placeholders}}.',
              outbound: true,
              option: 'url',
            }),
            method: oneOf(['POST', 'PUT', 'PATCH'], { help: 'The method of the calls.', default: 'POST' }),
            secrets: httpSecrets,
            auth: httpAuth,
            headers: httpHeaders,
            body: json({
              help: 'The JSON body, written as YAML. Texts may contain {{placeholders}}.',
              optional: true,
            }),
            rules: list(httpRule, {
              help: 'Rules that map responses to outcomes; the first match decides. The rules of the other webhooks, by status, follow them.',
            }),
            statuses: rows('The statuses that the platform knows. Default: all.', {
              status: oneOf(messageStatuses, { help: 'The status.' }),
              as: text({ help: "The platform's word for it. Default: the same.", optional: true }),
            }),
            channel: oneOf(['push', 'site'], {
              help: 'The channel whose statuses are sent. Default: both.',
              optional: true,
            }),
            ...connectionSettings,
            connections,
          },
          callback: {
            callback: url({
              help: "The address of the vendor's callback, with its path, for delivered, opened and clicked pushes.",
              option: 'url',
            }),
            auth: variants(
              {
                section: 'Calls to other systems',
                sections: 'Calls to other systems: authentication',
                help: 'The authentication of the calls, as agreed with the platform.',
                remedy: authRemedy,
              },
              authVariants,
            ),
            ...connectionSettings,
            connections,
          },
        },
      ),
      timeout: duration({ help: 'Timeout of one call.', default: '15s' }),
      retry: group('Retries', backoff),
    }),
  },
  { optional: true },
)
type StatusConfig = ValueOf<typeof statusSettings>
export type StatusWebhookConfig = NonNullable<StatusConfig>['webhooks'][number]
