import { amqpConsumer } from '../../../base/brokers/amqp-consumer.ts'
import type { BrokerConsumer } from '../../../base/brokers/consumer.ts'
import type { KafkaAddress } from '../../../base/brokers/kafka-address.ts'
import { kafkaConsumer } from '../../../base/brokers/kafka-consumer.ts'
import type { ConsumedFrom } from '../../../subjects/settings/broker.ts'

/** @param name the default name of the queue or topic */
export function createConsumer(from: ConsumedFrom, name: string): BrokerConsumer {
  switch (from.is) {
    case 'amqp': {
      const { is, queue = name, ...options } = from
      return amqpConsumer({ ...options, queue })
    }
    case 'kafka':
      return kafkaConsumer({
        ...kafkaAddress(from),
        topic: from.topic ?? name,
        ...(from.group !== undefined && { group: from.group }),
        declare: from.declare,
      })
  }
}

type KafkaConfig = Pick<
  Extract<ConsumedFrom, { is: 'kafka' }>,
  'brokers' | 'tls' | 'mechanism' | 'username' | 'password'
>

export function kafkaAddress({ brokers, tls, mechanism, username, password }: KafkaConfig): KafkaAddress {
  const sasl = username === undefined ? undefined : { mechanism, username, password: password ?? '' }
  return { brokers, tls, ...(sasl && { sasl }) }
}
