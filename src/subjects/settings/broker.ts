// A queue or topic that the platform consumes.

import { amqp, broker, integer, oneOf, path, text, url, yesNo } from '../../base/runtime/kinds.ts'
import { list, type ValueOf, variants } from '../../base/runtime/setting.ts'
import { certificateSettings } from './address.ts'

export const kafkaAccess = {
  kafka: list(broker({ help: 'A broker.' }), {
    help: 'Bootstrap brokers, as host:port.',
    minItems: 1,
    option: 'brokers',
  }),
  tls: yesNo({ help: 'Whether to connect with TLS.', default: 'false' }),
  mechanism: oneOf(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'], {
    help: 'SASL mechanism. OAUTHBEARER needs `token_file` or `oauth2`.',
    default: 'PLAIN',
  }),
  username: text({ help: 'User name. Default: no authentication.', optional: true }),
  password: text({ help: 'Password of `username`.', secret: true, optional: true }),
  token_file: path({
    help: 'With OAUTHBEARER: a file with the access token, which another program renews. It is read again for each connection.',
    optional: true,
  }),
  oauth2: url({
    help: 'With OAUTHBEARER: the token endpoint. The grant is client_credentials.',
    optional: true,
    option: 'tokenUrl',
  }),
  client_id: text({ help: 'The client id for `oauth2`.', optional: true }),
  client_secret: text({ help: 'The client secret for `oauth2`.', secret: true, optional: true }),
  scope: text({ help: 'The scope to request with `oauth2`.', optional: true }),
  ...certificateSettings,
}

/** @param defaultName the default name of the queue or topic, for the description */
export function consumedFrom(defaultName: string, prefetch: string, help: string) {
  return variants(
    {
      sections: { amqp: 'AMQP', kafka: 'Kafka' },
      help,
      remedy: 'write from: {amqp: amqp://…} or {kafka: [host:port]}',
    },
    {
      amqp: {
        amqp: amqp({ help: 'The message-queue broker (AMQP 0-9-1).', secret: true, option: 'url' }),
        queue: text({ help: `Queue. Default: ${defaultName}.`, optional: true }),
        dead_queue: text({
          help: 'Dead-letter queue to consume too, one message at a time. Default: QUEUE.dead. none: no dead-letter queue.',
          optional: true,
        }),
        declare: yesNo({
          help: 'Declare both queues as quorum queues. false: the queues must exist.',
          default: 'true',
        }),
        prefetch: integer(1, 10_000, {
          help: 'AMQP prefetch: the most unacknowledged messages. Each occupies at most 1 MiB of memory.',
          default: prefetch,
        }),
        ...certificateSettings,
      },
      kafka: {
        ...kafkaAccess,
        topic: text({ help: `Topic. Default: ${defaultName}.`, optional: true }),
        group: text({
          help: 'Consumer group, shared by the processes of one platform but by no other topic. Default: bellwire.TOPIC.',
          optional: true,
        }),
        declare: yesNo({ help: 'Create the topic if it does not exist.', default: 'true' }),
      },
    },
  )
}
export type ConsumedFrom = ValueOf<ReturnType<typeof consumedFrom>>
