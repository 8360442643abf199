// Channels for device links (§4.2, §4.3, row 21): where the operator publishes links, and where the platform consumes them.

import { amqp, brand, duration, integer, text, url } from '../../base/runtime/kinds.ts'
import { group, rows, type ValueOf, variants } from '../../base/runtime/setting.ts'
import { addressSettings, certificateSettings } from './address.ts'
import { consumedFrom, kafkaAccess } from './broker.ts'
import { backoff, issuedKey, someOf } from './shared.ts'

/** The default name of a queue, topic or routing key; both sides use the same one. */
export const defaultName = (brand: string | undefined): string =>
  brand === undefined ? 'device-links' : `device-links.${brand}`

/** The brokers to which links and unlinks are published. */
export const publishedTo = {
  amqp: {
    amqp: amqp({ help: 'The message-queue broker (AMQP 0-9-1).', secret: true, option: 'url' }),
    exchange: text({
      help: 'Exchange. Default: the default exchange, which routes to a queue by name.',
      optional: true,
    }),
    routing_key: text({ help: 'Routing key. Default: device-links.BRAND.', optional: true }),
    ...certificateSettings,
  },
  kafka: { ...kafkaAccess, topic: text({ help: 'Topic. Default: device-links.BRAND.', optional: true }) },
}

export const publish = rows(
  'Where the links and unlinks of each brand are published. A brand that is not listed publishes nothing.',
  {
    brand: brand({ help: 'The brand whose links and unlinks are published.' }),
    to: variants(
      {
        sections: { rest: 'Device links over REST', amqp: 'AMQP', kafka: 'Kafka' },
        help: 'The channel over which the platform receives links and unlinks.',
        remedy:
          'write to: {rest: https://…, api_key: …}, {amqp: amqp://…} or {kafka: [host:port]}, as agreed with the platform',
      },
      {
        rest: {
          rest: url({ help: "The platform's {platform_url}. /v1/integration/… is appended.", option: 'url' }),
          api_key: issuedKey('The API key issued by the platform, sent as X-Api-Key. Optional with `auth`.'),
          ...addressSettings,
          connections: integer(1, 1_000, { help: 'The most concurrent requests, one per user.', default: '8' }),
        },
        ...publishedTo,
      },
    ),
    providers: someOf(
      text({ help: 'firebase, apns, webpush, http:NAME, or all.' }),
      'The providers whose tokens are published. Default: firebase, the only one that every platform accepts.',
    ),
    origin: text({
      help: 'The origin in published messages, the same for all events of the brand. Default: the host of the first of operator.app.origins, otherwise bellwire.',
      optional: true,
    }),
    timeout: duration({ help: 'Timeout of one call.', default: '15s' }),
    retry: group('Retries', backoff),
  },
  { section: 'Publishing device links' },
)
export type PublishConfig = ValueOf<typeof publish>[number]

export const deviceLinks = rows(
  'Queues and topics from which device links are consumed, in addition to the HTTP endpoints.',
  {
    from: consumedFrom('device-links.BRAND', '1000', 'The broker to which the operator publishes.'),
    brand: brand({ help: 'The brand of all its messages.', optional: true }),
    origins: rows(
      'Instead of brand: maps the origin of a message to a brand. Use it only if you trust every publisher to this queue or topic.',
      { origin: text({ help: 'The origin in the message.' }), brand: brand({ help: 'Its brand.' }) },
      { optional: true, minItems: 1 },
    ),
  },
  { section: 'Consuming device links' },
)
export type DeviceLinksConfig = ValueOf<typeof deviceLinks>[number]
