// The platform's side of the message-based channels (§4.3). Received messages are stored in the registry. Unreadable messages
// are parked in the brand's lane, and a replay reads them from there again.

import type { BrokerConsumer } from '../brokers/consumer.ts'
import { createMessageIntake, type MessageIntake, noBrand } from '../brokers/message-intake.ts'
import type { Queue } from '../queue/queue.ts'
import type { Judge } from './device-event.ts'
import { deviceLane } from './outbox.ts'
import { type Brands, readLink } from './read-link.ts'
import type { Registry } from './registry.ts'

/** One queue or topic, and the brands of its messages. */
export interface LinkChannel {
  readonly consumer: BrokerConsumer
  readonly brands: Brands
}

export interface LinkChannelsOptions {
  readonly channels: readonly LinkChannel[]
  /** The registry of a brand. */
  readonly registryOf: (brand: string | undefined) => Pick<Registry, 'storeEvents'>
  readonly queue: Queue
  readonly judge?: Judge | undefined
}

/**
 * @example
 * const channels = [{ consumer: amqpConsumer({ url, queue: 'device-links.1' }), brands: '1' }]
 * const links = createLinkChannels({ channels, registryOf: () => registry, queue })
 * links.start()
 */
export function createLinkChannels({ channels, registryOf, queue, judge }: LinkChannelsOptions): MessageIntake {
  const readerOf = (brands: Brands) => (message: Parameters<typeof readLink>[0]) => readLink(message, { brands, judge })

  /** The origins of the queue or topic that delivered the message. The origins of another queue could assign it a wrong brand. */
  function originsOf(channel: string | undefined): Brands | undefined {
    const byOrigin = channels.filter(({ brands }) => typeof brands === 'object')
    // Messages parked by an earlier version lack the channel's name: their channel is known only if there is just one.
    const [match, another] =
      channel === undefined ? byOrigin : byOrigin.filter(({ consumer }) => consumer.name === channel)
    return another ? undefined : match?.brands
  }

  return createMessageIntake({
    queue,
    channels: channels.map(({ consumer, brands }) => ({
      consumer,
      read: readerOf(brands),
      brand: typeof brands === 'string' ? brands : undefined,
    })),
    commit: (events, ops, brand) => registryOf(brand).storeEvents(events.flat(), ops),
    brands: channels.flatMap(({ brands }) =>
      typeof brands === 'string' ? [brands] : [noBrand, ...Object.values(brands)],
    ),
    laneOf: deviceLane,
    refusal: 'unreadable_link',
    readerOf(brand, channel) {
      const brands = brand === noBrand ? originsOf(channel) : brand
      return brands === undefined ? undefined : readerOf(brands)
    },
  })
}
