// The operator of the proof device-links, which publishes the links and unlinks of its registry.

import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import type { DevicePublisher } from '../../src/subjects/devices/device-publisher.ts'
import { amqpPublisher } from '../../src/subjects/devices/publishers/amqp-publisher.ts'
import { kafkaPublisher } from '../../src/subjects/devices/publishers/kafka-publisher.ts'
import { restPublisher } from '../../src/subjects/devices/publishers/rest-publisher.ts'
import { adminKey, apiKeys, readPlan } from '../plans.ts'
import { type DeviceOperatorPlan, exchangeOf, linksOf, reportEvents, type TransportAddress } from './device-plan.ts'

reportEvents()
const plan = readPlan<DeviceOperatorPlan>()
const operator = createOperator({
  store: plan.store,
  keys: Object.entries(apiKeys).map(([brand, key]) => ({ name: `brand ${brand}`, key, brands: [brand] })),
  adminKeys: [{ name: 'proof', key: adminKey, scopes: ['counts', 'read', 'decide', 'attributes', 'devices'] }],
  suppression: 'none',
  publish: Object.keys(apiKeys).map((brand) => ({
    brand,
    publisher: publisherTo(plan.transport, brand),
    timeoutMs: 3_000,
    retry: { firstMs: 100, mostMs: 1_000 },
  })),
})
await operator.start()
await listen('operator', chain(operator.handler, operator.admin.handler), { port: plan.port })

function publisherTo({ channel, address }: TransportAddress, brand: string): DevicePublisher {
  switch (channel) {
    case 'rest':
      return restPublisher({ url: address, apiKey: apiKeys[brand] as string })
    case 'amqp':
      return amqpPublisher({ url: address, exchange: exchangeOf(brand), routingKey: 'device' })
    case 'kafka':
      return kafkaPublisher({ brokers: [address], topic: linksOf(brand) })
  }
}
