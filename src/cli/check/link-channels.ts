// The brokers over which the checker publishes links of devices to a platform.

import type { LinkChannel } from '../../checker/facts.ts'
import { brokerPublisher } from '../../config/compose/device-channels.ts'
import { clock } from '../../runtime/clock.ts'
import { uuidv7 } from '../../runtime/ids.ts'

type Address = Parameters<typeof brokerPublisher>[0]
type Publisher = ReturnType<typeof brokerPublisher>

const withinMs = 30_000
const names = { amqp: 'RabbitMQ', kafka: 'Kafka' } as const

export const linkChannelOf = (to: Address, brand: string): LinkChannel =>
  publishingTo(names[to.is], brokerPublisher(to, brand))

/** @param name the broker, for people */
export function publishingTo(name: string, publisher: Publisher): LinkChannel {
  return {
    name,
    async publish(what, userId, body) {
      const message = { id: uuidv7(), what, userId, body }
      const context = { deadline: clock.now() + withinMs, signal: new AbortController().signal }
      const [outcome] = await publisher.publish([message], context)
      return outcome === undefined || outcome.category === 'successful' ? undefined : outcome.error
    },
    close: () => publisher.close(),
  }
}
