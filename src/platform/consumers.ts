// The state of the consumers of queues and topics: the route, the metrics and the words of /readyz.

import { Type } from 'typebox'
import type { BrokerConsumer, ConsumerStatus } from '../brokers/consumer.ts'
import { moment, whole } from '../contract/documents/described.ts'
import { type AdminRoute, adminRoute } from '../http/admin-access.ts'
import { within } from '../runtime/within.ts'

const Consumer = Type.Object({
  name: Type.String({ description: 'The broker, and the queue or topic' }),
  state: Type.Enum(['connecting', 'consuming', 'held'], {
    description:
      'connecting: no session with the broker. held: the store accepts no messages, so nothing is acknowledged. Both end without intervention',
  }),
  since: moment('The time when this state began'),
  last_error: Type.Optional(Type.String({ description: 'The last reason for not consuming' })),
  lag: Type.Optional(
    whole(
      'AMQP: messages in the queue that no process has received. Kafka: messages after the committed offsets, in the partitions of this process. Absent if it is unknown now',
    ),
  ),
})

const lagTimeoutMs = 2_000

export function consumerRoutes(consumers: readonly BrokerConsumer[]): readonly AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      url: '/admin/consumers',
      scope: 'read',
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
    }),
  ]
}

/** The states for /readyz, by name. They contain no error texts, because no key is needed there. */
export function consumerStates(consumers: readonly BrokerConsumer[]): { readonly consumers?: object } {
  if (consumers.length === 0) return {}
  return { consumers: Object.fromEntries(consumers.map((consumer) => [consumer.name, statusOf(consumer).state])) }
}

/** A consumer of your own may report no status. */
export function statusOf(consumer: BrokerConsumer): ConsumerStatus {
  return consumer.status?.() ?? { state: 'consuming', since: 0 }
}

/** Undefined if the broker does not answer soon. */
export async function readLag(consumer: BrokerConsumer): Promise<number | undefined> {
  try {
    return await within(lagTimeoutMs, consumer.readLag?.() ?? Promise.resolve(undefined))
  } catch {
    return undefined
  }
}
