// How device links travel (§4.2, §4.3, row 21): where the operator publishes its, where the platform consumes them.

import { amqp, brand, broker, duration, integer, oneOf, text, url, yesNo } from './kinds.ts'
import { group, list, type ValueOf, variants } from './setting.ts'

/** Names that are left out: the same on both sides. */
export const defaultName = (brand: string | undefined): string =>
  brand === undefined ? 'device-links' : `device-links.${brand}`

const kafkaAccess = {
  kafka: list(broker({ says: 'A broker.' }), { says: 'Some of the brokers: host:port.', least: 1 }),
  tls: yesNo({ says: 'Encrypted.', default: 'false' }),
  mechanism: oneOf('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512')({ says: 'How the password is shown.', default: 'PLAIN' }),
  username: text({ says: 'Left out: no authentication.', optional: true }),
  password: text({ says: 'Of that user.', secret: true, optional: true }),
}

export const publish = list(
  group(
    { says: 'One brand.' },
    {
      brand: brand({ says: 'The brand whose links and unlinks are told.' }),
      to: variants(
        {
          says: 'Where the platform takes them.',
          remedy:
            'write to: {rest: https://…, api_key: …}, {amqp: amqp://…} or {kafka: [host:port]}, as the platform told you',
        },
        {
          rest: {
            rest: url({ says: "The platform's {platform_url}, before /v1/integration/…" }),
            api_key: text({ says: 'The key that the platform gave, sent as X-Api-Key (row 15).', secret: true }),
            connections: integer(1, 1_000)({ says: 'Requests at a time, each for another user.', default: '8' }),
          },
          amqp: {
            amqp: amqp({ says: 'The message-queue broker (AMQP 0-9-1).', secret: true }),
            exchange: text({ says: "Left out: the default exchange, the key is a queue's name.", optional: true }),
            routing_key: text({ says: 'Left out: device-links.BRAND.', optional: true }),
          },
          kafka: { ...kafkaAccess, topic: text({ says: 'Left out: device-links.BRAND.', optional: true }) },
        },
      ),
      providers: list(text({ says: 'firebase, apns, webpush, http:NAME, or all.' }), {
        says: 'Whose tokens are told (row 18). Left out: firebase, which is all that foreign platforms know.',
        optional: true,
        least: 1,
      }),
      origin: text({
        says: 'The origin in all published events of the brand. Default: bellwire.',
        optional: true,
      }),
      timeout: duration({ says: 'How long a call may take.', default: '15s' }),
      retry: group(
        { says: 'Tried again until it is taken; only 400, 413 and 422 are final (row 19).' },
        {
          first: duration({ says: 'After the first failure, up to this.', default: '1s' }),
          most: duration({ says: 'And at most this.', default: '5min' }),
        },
      ),
    },
  ),
  { says: 'Where the links and unlinks of each brand are told (§6). A brand that is not here tells nobody.' },
)
export type PublishConfig = ValueOf<typeof publish>[number]

export const deviceLinks = list(
  group(
    { says: 'One queue or topic.' },
    {
      from: variants(
        {
          says: 'Where the operator publishes.',
          remedy: 'write from: {amqp: amqp://…} or {kafka: [host:port]}',
        },
        {
          amqp: {
            amqp: amqp({ says: 'The message-queue broker (AMQP 0-9-1).', secret: true }),
            queue: text({ says: 'Left out: device-links.BRAND.', optional: true }),
            dead_queue: text({
              says: 'What was delivered too often, taken up from there one by one. Left out: QUEUE.dead; none: not ours.',
              optional: true,
            }),
            declare: yesNo({
              says: 'Declare both as quorum queues. false: they are there, as somebody made them.',
              default: 'true',
            }),
            delivery_limit: integer(
              1,
              1_000_000,
            )({
              says: 'Deliveries without an acknowledgement until the broker puts a message aside.',
              default: '20',
            }),
            prefetch: integer(1, 10_000)({ says: 'Messages on their way to us at once.', default: '1000' }),
          },
          kafka: {
            ...kafkaAccess,
            topic: text({ says: 'Left out: device-links.BRAND.', optional: true }),
            group: text({
              says: 'Shared by the processes of one platform, not by topics. Left out: bellwire.TOPIC.',
              optional: true,
            }),
            declare: yesNo({ says: 'Create the topic where it is missing.', default: 'true' }),
          },
        },
      ),
      brand: brand({ says: 'All its messages are of this brand.', optional: true }),
      origins: list(
        group(
          { says: 'One origin.' },
          { origin: text({ says: 'As it stands in the message.' }), brand: brand({ says: 'Its brand.' }) },
        ),
        {
          says: 'Instead of brand: the brand for each origin. Use it only if you trust every publisher on this topic or queue.',
          optional: true,
          least: 1,
        },
      ),
    },
  ),
  { says: 'Queues and topics that bring device links, beside the two endpoints (§4.3).' },
)
export type DeviceLinksConfig = ValueOf<typeof deviceLinks>[number]
