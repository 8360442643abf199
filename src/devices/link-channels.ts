// The platform's end of the message-based channels (§4.3): what consumers bring goes into the registry, what cannot be read
// is parked in the brand's lane, and a replay takes it from there once more.

import type { Outcome } from '../contract/outcome.ts'
import type { Handle, Lane, LaneService, Queue } from '../queue/queue.ts'
import { emit } from '../runtime/events.ts'
import type { Op } from '../store/database.ts'
import type { DeviceConsumer } from './device-channel.ts'
import type { Judge } from './device-event.ts'
import { type Brands, type Parked, parkedText, takeMessages, unparked } from './message-intake.ts'
import { deviceLane } from './outbox.ts'
import type { Registry } from './registry.ts'

/** One queue or topic, and whose its messages are. */
export interface LinkChannel {
  readonly consumer: DeviceConsumer
  readonly brands: Brands
}

export interface LinkChannels {
  /** The lanes of parked messages. */
  readonly lanes: readonly LaneService[]
  start(): void
  /** Takes no more, lets what is in progress end. */
  stop(withinMs?: number): Promise<void>
}

export interface LinkChannelsOptions {
  readonly channels: readonly LinkChannel[]
  readonly registry: Pick<Registry, 'take'>
  readonly queue: Queue
  readonly judge?: Judge | undefined
}

/** The lane of messages that are of no brand. Only keys that are bound to no brand see it. */
const ofNoBrand = '-'

/**
 * @example
 * const links = createLinkChannels({ channels: [{ consumer: amqpConsumer({ url, queue: 'device-links.1' }), brands: '1' }], registry, queue })
 * links.start()
 */
export function createLinkChannels({ channels, registry, queue, judge }: LinkChannelsOptions): LinkChannels {
  const stopping = new AbortController()
  let consuming: Promise<unknown> = Promise.resolve()

  const parkFrom =
    (channel: string) =>
    (parked: readonly Parked[]): readonly Op[] =>
      [...Map.groupBy(parked, ({ brand }) => deviceLane(brand ?? ofNoBrand))].flatMap(([lane, mine]) =>
        queue.park(
          lane,
          mine.map(({ key, message, reason }) => ({
            key,
            text: parkedText(message, channel, Date.now()),
            reason: 'invalid',
            error: reason,
            rule: 'row 22: cannot be read',
          })),
        ),
      )

  const onParked = (parked: readonly Parked[]): void => {
    for (const { message, reason, brand } of parked) {
      const { from, body } = message
      emit('device.parked', { lane: deviceLane(brand ?? ofNoBrand), from, reason, bytes: body.byteLength })
    }
  }

  const takeOf = ({ consumer, brands }: LinkChannel) =>
    takeMessages({ registry, judge, brands, park: parkFrom(consumer.name), onParked })

  /** Once more, with the rules of now. */
  async function replayOne(text: string, brand: string): Promise<string | undefined> {
    const { message, channel, cut } = unparked(text)
    if (cut) return 'only its beginning was kept: have it published again, in smaller parts'
    const brands = brand === ofNoBrand ? originsOf(channel) : brand
    if (brands === undefined)
      return 'its queue or topic is not configured any more: configure it, or dismiss the message'
    let reason: string | undefined
    const park = ([parked]: readonly Parked[]): readonly Op[] => {
      reason = parked?.reason
      return []
    }
    await takeMessages({ registry, judge, brands, park })([message])
    return reason
  }

  /** The origins of the queue or topic that brought a message. The origins of another one would allow a brand without permission to publish there. */
  function originsOf(channel: string | undefined): Brands | undefined {
    const byOrigin = channels.filter(({ brands }) => typeof brands === 'object')
    // Before the name was kept there was no telling two apart.
    const [its, another] =
      channel === undefined ? byOrigin : byOrigin.filter(({ consumer }) => consumer.name === channel)
    return another ? undefined : its?.brands
  }

  const replay =
    (brand: string): Handle =>
    async (items) =>
      Promise.all(
        items.map(async ({ text }): Promise<Outcome> => {
          const reason = await replayOne(text, brand)
          return reason === undefined
            ? { category: 'successful', rule: 'taken' }
            : { category: 'failed', reason: 'invalid', error: reason, rule: 'row 22: cannot be read' }
        }),
      )

  const lanes = brandsOf(channels).map((brand) => queue.serve({ ...replays, name: deviceLane(brand) }, replay(brand)))

  return {
    lanes,
    start() {
      for (const lane of lanes) lane.start()
      consuming = Promise.all(channels.map((channel) => channel.consumer.consume(takeOf(channel), stopping.signal)))
    },
    async stop(withinMs) {
      stopping.abort()
      await consuming
      await Promise.all(lanes.map((lane) => lane.stop(withinMs)))
    },
  }
}

const replays: Omit<Lane, 'name'> = {
  order: 'none',
  max: 100,
  bytes: 4 * 1024 * 1024,
  spanMs: 0,
  concurrency: 1,
  timeoutMs: 30_000,
  keepFailed: true,
  retry: { firstMs: 500, mostMs: 30_000 },
}

/** Each brand that has channels, and `-` where messages may be of none. */
const brandsOf = (channels: readonly LinkChannel[]): readonly string[] => [
  ...new Set(
    channels.flatMap(({ brands }) => (typeof brands === 'string' ? [brands] : [ofNoBrand, ...Object.values(brands)])),
  ),
]
