// The state of the consumers of queues and topics.

import { Type } from 'typebox'
import type { BrokerConsumer } from '../../base/brokers/consumer.ts'
import { readLag, statusOf } from '../../base/brokers/consumer-state.ts'
import { moment, text, whole } from '../../contract/documents/described.ts'
import { adminRoute } from './route.ts'

const Consumer = Type.Object({
  name: text('The broker, and the queue or topic'),
  state: Type.Enum(['connecting', 'consuming', 'held'], {
    description:
      'connecting: no session with the broker. held: the store accepts no messages, so nothing is acknowledged. Both end without intervention',
  }),
  since: moment('The time when this state began'),
  last_error: Type.Optional(text('The last reason for not consuming')),
  lag: Type.Optional(
    whole(
      'AMQP: messages in the queue that no process has received. Kafka: messages after the committed offsets, in the partitions of this process. Absent if it is unknown now',
    ),
  ),
})

export const listConsumers = (consumers: readonly BrokerConsumer[]) =>
  adminRoute({
    says: 'Lists the consumed queues and topics, in this process: their state, the last error, and the messages that wait at the broker. Empty for a key that is bound to brands.',
    gives: Type.Object({ consumers: Type.Array(Consumer) }),
    async handler(_request, key) {
      const visible = key.brands ? [] : consumers
      return {
        consumers: await Promise.all(
          visible.map(async (consumer) => {
            const { state, since, lastError } = statusOf(consumer)
            return { name: consumer.name, state, since, last_error: lastError, lag: await readLag(consumer) }
          }),
        ),
      }
    },
  })
