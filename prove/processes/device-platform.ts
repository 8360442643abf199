// The platform of the proof device-links, with its two endpoints and a queue or topic for each brand.

import { amqpConsumer } from '../../src/base/brokers/amqp-consumer.ts'
import type { BrokerConsumer } from '../../src/base/brokers/consumer.ts'
import { kafkaConsumer } from '../../src/base/brokers/kafka-consumer.ts'
import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import { adminKey, apiKeys, readPlan } from '../plans.ts'
import {
  type DevicePlatformPlan,
  deliveryLimit,
  linksOf,
  prefetch,
  reportEvents,
  type TransportAddress,
} from './device-plan.ts'

reportEvents()
const plan = readPlan<DevicePlatformPlan>()
const platform = createPlatform({
  store: plan.store,
  keys: [
    { name: 'proof', key: adminKey, scopes: ['counts', 'read', 'decide', 'attributes'] },
    ...Object.entries(apiKeys).map(([brand, key]) => ({
      name: `brand ${brand}`,
      key,
      scopes: ['devices' as const],
      brands: [brand],
    })),
  ],
  lanes: [],
  deviceLinks: Object.keys(apiKeys).flatMap((brand) => {
    const consumer = consumerOf(plan.transport, brand)
    return consumer ? [{ brands: brand, consumer: plan.stall ? stalled(consumer) : consumer }] : []
  }),
})
await platform.start()
await listen('platform', chain(platform.handler, platform.admin.handler), { port: plan.port })

function consumerOf({ channel, address }: TransportAddress, brand: string): BrokerConsumer | undefined {
  switch (channel) {
    case 'rest':
      return undefined
    case 'amqp':
      return amqpConsumer({ url: address, queue: linksOf(brand), deliveryLimit, prefetch })
    case 'kafka':
      return kafkaConsumer({ brokers: [address], topic: linksOf(brand), sessionTimeoutMs: 2_000 })
  }
}

function stalled(consumer: BrokerConsumer): BrokerConsumer {
  return {
    ...consumer,
    consume: (_take, signal) =>
      consumer.consume(() => {
        process.send?.({ event: 'stalled' })
        return new Promise(() => {})
      }, signal),
  }
}
