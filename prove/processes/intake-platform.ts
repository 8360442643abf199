// A platform process of the proof intake: it consumes records, and its lanes deliver them to a provider that accepts everything.

import { amqpConsumer } from '../../src/base/brokers/amqp-consumer.ts'
import type { BrokerConsumer } from '../../src/base/brokers/consumer.ts'
import { kafkaConsumer } from '../../src/base/brokers/kafka-consumer.ts'
import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { on } from '../../src/base/runtime/events.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import { adminKey, apiKeys, readPlan } from '../plans.ts'

export type BrokerName = 'amqp' | 'kafka'

export interface IntakePlan {
  readonly store: string
  readonly port: number
  readonly broker: BrokerName
  /** amqp: the URL of the broker; kafka: host:port. */
  readonly address: string
  /** The queue or topic. */
  readonly source: string
}

const plan = readPlan<IntakePlan>()
on('server.listening', ({ url }) => process.send?.({ ready: { url } }))
on('queue.enqueued', ({ accepted, repeated }) => process.send?.({ event: 'queue.enqueued', accepted, repeated }))
on('consumer.held', () => process.send?.({ event: 'consumer.held' }))
process.on('disconnect', () => process.exit(0))

const provider: Provider = {
  name: 'accepting',
  max: 1_000,
  send: async (messages) => messages.map(({ ref }) => ({ category: 'successful', ref, rule: 'accepted' })),
}
const platform = createPlatform({
  store: plan.store,
  keys: [{ name: 'proof', key: adminKey, scopes: ['counts', 'read', 'decide', 'attributes'] }],
  lanes: Object.keys(apiKeys).flatMap((brand) =>
    (['push', 'site'] as const).map((channel) => ({ brand, channel, mode: 'batch' as const, provider })),
  ),
  intake: [{ consumer: consumerOf(plan) }],
})
await platform.start()
await listen('platform', chain(platform.handler, platform.admin.handler), { port: plan.port })

function consumerOf({ broker, address, source }: IntakePlan): BrokerConsumer {
  return broker === 'amqp'
    ? amqpConsumer({ url: address, queue: source, prefetch: 100 })
    : kafkaConsumer({ brokers: [address], topic: source, sessionTimeoutMs: 3_000 })
}
