import { amqpConsumer } from '../../../base/brokers/amqp-consumer.ts'
import type { BrokerConsumer } from '../../../base/brokers/consumer.ts'
import type { KafkaAddress } from '../../../base/brokers/kafka-address.ts'
import { kafkaConsumer } from '../../../base/brokers/kafka-consumer.ts'
import type { ConsumedFrom } from '../../../subjects/settings/broker.ts'
import { certificateOptions } from './services/address.ts'

/**
 * @param name the default name of the queue or topic
 * @param at the path of the settings: 'platform.intake[0].from'
 */
export async function createConsumer(from: ConsumedFrom, name: string, at: string): Promise<BrokerConsumer> {
  const certificates = await certificateOptions(from, at)
  switch (from.is) {
    case 'amqp': {
      const { is, queue = name, ca, clientCertificate, clientKey, ...options } = from
      return amqpConsumer({ ...options, queue, ...certificates })
    }
    case 'kafka':
      return kafkaConsumer({
        ...kafkaAddress(from),
        ...certificates,
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
