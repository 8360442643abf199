// A queue or topic that the platform consumes.

import { amqp, broker, integer, oneOf, text, yesNo } from '../../base/runtime/kinds.ts'
import { list, type ValueOf, variants } from '../../base/runtime/setting.ts'
import { certificateSettings } from './address.ts'

export const kafkaAccess = {
  kafka: list(broker({ help: 'A broker.' }), {
    help: 'Bootstrap brokers, as host:port.',
    minItems: 1,
    option: 'brokers',
  }),
  tls: yesNo({ help: 'Whether to connect with TLS.', default: 'false' }),
  mechanism: oneOf(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'], { help: 'SASL mechanism.', default: 'PLAIN' }),
  username: text({ help: 'User name. Default: no authentication.', optional: true }),
  password: text({ help: 'Password of `username`.', secret: true, optional: true }),
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
