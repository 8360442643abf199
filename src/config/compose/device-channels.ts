// Converts the validated configuration to publishers and consumers of device links.

import { amqpPublisher } from '../../devices/channels/amqp-publisher.ts'
import { kafkaPublisher } from '../../devices/channels/kafka-publisher.ts'
import { restPublisher } from '../../devices/channels/rest-publisher.ts'
import type { DevicePublisher } from '../../devices/device-channel.ts'
import type { LinkChannel } from '../../devices/link-channels.ts'
import type { Publishing } from '../../devices/outbox.ts'
import { type DeviceLinksConfig, defaultName, type PublishConfig } from '../device-channels-settings.ts'
import { createConsumer, kafkaAddress } from './consumer.ts'

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

export function createPublisher(to: PublishConfig['to'], brand: string): DevicePublisher {
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
