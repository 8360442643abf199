// Channels for device links (§4.2, §4.3, row 21): where the operator publishes links, and where the platform consumes them.

import { amqp, brand, broker, duration, integer, oneOf, text, url, yesNo } from './kinds.ts'
import { group, list, type ValueOf, variants } from './setting.ts'

/** The default name of a queue, topic or routing key; both sides use the same one. */
export const defaultName = (brand: string | undefined): string =>
  brand === undefined ? 'device-links' : `device-links.${brand}`

const kafkaAccess = {
  kafka: list(broker({ help: 'A broker.' }), { help: 'Bootstrap brokers, as host:port.', minItems: 1 }),
  tls: yesNo({ help: 'Whether to connect with TLS.', default: 'false' }),
  mechanism: oneOf('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512')({ help: 'SASL mechanism.', default: 'PLAIN' }),
  username: text({ help: 'User name. Default: no authentication.', optional: true }),
  password: text({ help: 'Password of `username`.', secret: true, optional: true }),
}

export const publish = list(
  group(
    { help: 'One brand.' },
    {
      brand: brand({ help: 'The brand whose links and unlinks are published.' }),
      to: variants(
        {
          help: 'The channel over which the platform receives links and unlinks.',
          remedy:
            'write to: {rest: https://…, api_key: …}, {amqp: amqp://…} or {kafka: [host:port]}, as agreed with the platform',
        },
        {
          rest: {
            rest: url({ help: "The platform's {platform_url}. /v1/integration/… is appended." }),
            api_key: text({ help: 'The API key issued by the platform, sent as X-Api-Key.', secret: true }),
            connections: integer(1, 1_000)({ help: 'The most concurrent requests, one per user.', default: '8' }),
          },
          amqp: {
            amqp: amqp({ help: 'The message-queue broker (AMQP 0-9-1).', secret: true }),
            exchange: text({
              help: 'Exchange. Default: the default exchange, which routes to a queue by name.',
              optional: true,
            }),
            routing_key: text({ help: 'Routing key. Default: device-links.BRAND.', optional: true }),
          },
          kafka: { ...kafkaAccess, topic: text({ help: 'Topic. Default: device-links.BRAND.', optional: true }) },
        },
      ),
      providers: list(text({ help: 'firebase, apns, webpush, http:NAME, or all.' }), {
        help: 'The providers whose tokens are published. Default: firebase, the only one that every platform accepts.',
        optional: true,
        minItems: 1,
      }),
      origin: text({
        help: 'The origin in published messages, the same for all events of the brand. Default: bellwire.',
        optional: true,
      }),
      timeout: duration({ help: 'Timeout of one call.', default: '15s' }),
      retry: group(
        { help: 'Backoff. A failed call is retried until it succeeds; only the statuses 400, 413 and 422 are final.' },
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
  { help: 'Where the links and unlinks of each brand are published. A brand that is not listed publishes nothing.' },
)
export type PublishConfig = ValueOf<typeof publish>[number]

export const deviceLinks = list(
  group(
    { help: 'One queue or topic.' },
    {
      from: variants(
        {
          help: 'The broker to which the operator publishes.',
          remedy: 'write from: {amqp: amqp://…} or {kafka: [host:port]}',
        },
        {
          amqp: {
            amqp: amqp({ help: 'The message-queue broker (AMQP 0-9-1).', secret: true }),
            queue: text({ help: 'Queue. Default: device-links.BRAND.', optional: true }),
            dead_queue: text({
              help: 'Dead-letter queue to consume too, one message at a time. Default: QUEUE.dead. none: no dead-letter queue.',
              optional: true,
            }),
            declare: yesNo({
              help: 'Declare both queues as quorum queues. false: the queues must exist.',
              default: 'true',
            }),
            delivery_limit: integer(
              1,
              1_000_000,
            )({
              help: 'Unacknowledged deliveries of a message before the broker moves it to the dead-letter queue.',
              default: '20',
            }),
            prefetch: integer(1, 10_000)({ help: 'AMQP prefetch: the most unacknowledged messages.', default: '1000' }),
          },
          kafka: {
            ...kafkaAccess,
            topic: text({ help: 'Topic. Default: device-links.BRAND.', optional: true }),
            group: text({
              help: 'Consumer group, shared by the processes of one platform but by no other topic. Default: bellwire.TOPIC.',
              optional: true,
            }),
            declare: yesNo({ help: 'Create the topic if it does not exist.', default: 'true' }),
          },
        },
      ),
      brand: brand({ help: 'The brand of all its messages.', optional: true }),
      origins: list(
        group(
          { help: 'One origin.' },
          { origin: text({ help: 'The origin in the message.' }), brand: brand({ help: 'Its brand.' }) },
        ),
        {
          help: 'Instead of brand: maps the origin of a message to a brand. Use it only if you trust every publisher to this queue or topic.',
          optional: true,
          minItems: 1,
        },
      ),
    },
  ),
  { help: 'Queues and topics from which device links are consumed, in addition to the HTTP endpoints.' },
)
export type DeviceLinksConfig = ValueOf<typeof deviceLinks>[number]
