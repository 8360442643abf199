// Converts the validated configuration to publishers and consumers of device links.

import { amqpConsumer } from '../../devices/channels/amqp-consumer.ts'
import { amqpPublisher } from '../../devices/channels/amqp-publisher.ts'
import type { KafkaAddress } from '../../devices/channels/kafka-address.ts'
import { kafkaConsumer } from '../../devices/channels/kafka-consumer.ts'
import { kafkaPublisher } from '../../devices/channels/kafka-publisher.ts'
import { restPublisher } from '../../devices/channels/rest-publisher.ts'
import type { DeviceConsumer, DevicePublisher } from '../../devices/device-channel.ts'
import type { LinkChannel } from '../../devices/link-channels.ts'
import type { Publishing } from '../../devices/outbox.ts'
import { type DeviceLinksConfig, defaultName, type PublishConfig } from '../device-channels-settings.ts'

export function publishOptions({ brand, to, providers, origin, timeout, retry }: PublishConfig): Publishing {
  return {
    brand,
    publisher: createPublisher(to, brand),
    ...(providers && { providers: providers.includes('all') ? 'all' : providers }),
    ...(origin !== undefined && { origin }),
    timeoutMs: timeout,
    retry: { firstMs: retry.first, mostMs: retry.most },
  }
}

function createPublisher(to: PublishConfig['to'], brand: string): DevicePublisher {
  switch (to.is) {
    case 'rest':
      return restPublisher({ url: to.rest, apiKey: to.api_key, connections: to.connections })
    case 'amqp':
      return amqpPublisher({
        url: to.amqp,
        ...(to.exchange !== undefined && { exchange: to.exchange }),
        routingKey: to.routing_key ?? defaultName(brand),
      })
    case 'kafka':
      return kafkaPublisher({ ...kafkaAddress(to), topic: to.topic ?? defaultName(brand) })
  }
}

export function linkChannel({ from, brand, origins = [] }: DeviceLinksConfig): LinkChannel {
  const byOrigin = Object.fromEntries(origins.map(({ origin, brand }) => [origin, brand]))
  return { consumer: createConsumer(from, defaultName(brand)), brands: brand ?? byOrigin }
}

function createConsumer(from: DeviceLinksConfig['from'], name: string): DeviceConsumer {
  switch (from.is) {
    case 'amqp':
      return amqpConsumer({
        url: from.amqp,
        queue: from.queue ?? name,
        ...(from.dead_queue !== undefined && { deadQueue: from.dead_queue }),
        declare: from.declare,
        deliveryLimit: from.delivery_limit,
        prefetch: from.prefetch,
      })
    case 'kafka':
      return kafkaConsumer({
        ...kafkaAddress(from),
        topic: from.topic ?? name,
        ...(from.group !== undefined && { group: from.group }),
        declare: from.declare,
      })
  }
}

type KafkaConfig = Extract<PublishConfig['to'], { is: 'kafka' }> | Extract<DeviceLinksConfig['from'], { is: 'kafka' }>

function kafkaAddress({ kafka, tls, mechanism, username, password }: KafkaConfig): KafkaAddress {
  const sasl = username === undefined ? undefined : { mechanism, username, password: password ?? '' }
  return { brokers: kafka, tls, ...(sasl && { sasl }) }
}
