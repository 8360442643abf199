// The platform's side of the brokers (§4.3). Received messages are stored in the registry. Unreadable messages
// are parked in the brand's lane, and a replay reads them from there again.

import type { BrokerConsumer } from '../../base/brokers/consumer.ts'
import { createMessageIntake, type MessageIntake, noBrand } from '../../base/brokers/message-intake.ts'
import type { Queue } from '../../base/queue/queue.ts'
import type { Judge } from './device-event.ts'
import { deviceLane } from './outbox.ts'
import { type Brands, readLink } from './read-link.ts'
import type { Registry } from './registry.ts'

/** One queue or topic, and the brands of its messages. */
export interface LinkSource {
  readonly consumer: BrokerConsumer
  readonly brands: Brands
}

export interface LinkIntakeOptions {
  readonly sources: readonly LinkSource[]
  /** The registry of a brand. */
  readonly registryOf: (brand: string | undefined) => Pick<Registry, 'storeEvents'>
  readonly queue: Queue
  readonly judge?: Judge | undefined
}

/**
 * @example
 * const sources = [{ consumer: amqpConsumer({ url, queue: 'device-links.1' }), brands: '1' }]
 * const links = createLinkIntake({ sources, registryOf: () => registry, queue })
 * links.start()
 */
export function createLinkIntake({ sources, registryOf, queue, judge }: LinkIntakeOptions): MessageIntake {
  const readerOf = (brands: Brands) => (message: Parameters<typeof readLink>[0]) => readLink(message, { brands, judge })

  /** The origins of the queue or topic that delivered the message. The origins of another queue could assign it a wrong brand. */
  function originsOf(consumer: string): Brands | undefined {
    const byOrigin = sources.filter(({ brands }) => typeof brands === 'object')
    const [match, another] = byOrigin.filter((source) => source.consumer.name === consumer)
    return another ? undefined : match?.brands
  }

  return createMessageIntake({
    queue,
    sources: sources.map(({ consumer, brands }) => ({
      consumer,
      read: readerOf(brands),
      brand: typeof brands === 'string' ? brands : undefined,
    })),
    commit: (events, ops, brand) => registryOf(brand).storeEvents(events.flat(), ops),
    brands: sources.flatMap(({ brands }) =>
      typeof brands === 'string' ? [brands] : [noBrand, ...Object.values(brands)],
    ),
    laneOf: deviceLane,
    refusal: 'unreadable_link',
    readerOf(brand, consumer) {
      const brands = brand === noBrand ? originsOf(consumer) : brand
      return brands === undefined ? undefined : readerOf(brands)
    },
  })
}
