// The platform's side of the message-based channels (§4.3). Received messages are stored in the registry. Unreadable messages
// are parked in the brand's lane, and a replay reads them from there again.

import type { Outcome } from '../contract/outcome.ts'
import { failedRefusals, refuseFailed } from '../contract/refusals.ts'
import type { Lane, LaneHandler, LaneService, Queue } from '../queue/queue.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import type { Op } from '../store/database.ts'
import type { DeviceConsumer } from './device-channel.ts'
import type { Judge } from './device-event.ts'
import { type Brands, type Parked, parkedText, readParkedText, takeMessages } from './message-intake.ts'
import { deviceLane } from './outbox.ts'
import type { Registry } from './registry.ts'

/** One queue or topic, and the brands of its messages. */
export interface LinkChannel {
  readonly consumer: DeviceConsumer
  readonly brands: Brands
}

export interface LinkChannels {
  /** The lanes of parked messages. */
  readonly lanes: readonly LaneService[]
  start(): void
  /** Stops consuming, and waits for the messages in progress. */
  stop(withinMs?: number): Promise<void>
}

export interface LinkChannelsOptions {
  readonly channels: readonly LinkChannel[]
  readonly registry: Pick<Registry, 'take'>
  readonly queue: Queue
  readonly judge?: Judge | undefined
}

/** The lane of messages whose brand is unknown. Visible only to keys that are not bound to a brand. */
const noBrand = '-'

/**
 * @example
 * const channels = [{ consumer: amqpConsumer({ url, queue: 'device-links.1' }), brands: '1' }]
 * const links = createLinkChannels({ channels, registry, queue })
 * links.start()
 */
export function createLinkChannels({ channels, registry, queue, judge }: LinkChannelsOptions): LinkChannels {
  const stopping = new AbortController()
  let consuming: Promise<unknown> = Promise.resolve()

  const parkFrom =
    (channel: string) =>
    (parked: readonly Parked[]): readonly Op[] =>
      [...Map.groupBy(parked, ({ brand }) => deviceLane(brand ?? noBrand))].flatMap(([lane, mine]) =>
        queue.insertFailedOps(
          lane,
          mine.map(({ key, message, reason }) => ({
            key,
            text: parkedText(message, channel, clock.now()),
            reason: failedRefusals.unreadable_link.reason,
            error: reason,
            rule: failedRefusals.unreadable_link.rule,
          })),
        ),
      )

  const onParked = (parked: readonly Parked[]): void => {
    for (const { message, reason, brand } of parked) {
      const { from, body } = message
      emit('device.parked', { lane: deviceLane(brand ?? noBrand), from, reason, bytes: body.byteLength })
    }
  }

  const takeFrom = ({ consumer, brands }: LinkChannel) =>
    takeMessages({ registry, judge, brands, park: parkFrom(consumer.name), onParked })

  /** Reads a parked message again under the current configuration. @returns why it is still unreadable, or undefined */
  async function replayMessage(text: string, brand: string): Promise<string | undefined> {
    const { message, channel, cut } = readParkedText(text)
    if (cut) return 'the message was too large and only its beginning was kept: publish it again in smaller parts'
    const brands = brand === noBrand ? originsOf(channel) : brand
    if (brands === undefined)
      return 'the queue or topic of the message is no longer configured: configure it, or dismiss the message'
    let reason: string | undefined
    const park = ([parked]: readonly Parked[]): readonly Op[] => {
      reason = parked?.reason
      return []
    }
    await takeMessages({ registry, judge, brands, park })([message])
    return reason
  }

  /** The origins of the queue or topic that delivered the message. Those of another one could assign it a wrong brand. */
  function originsOf(channel: string | undefined): Brands | undefined {
    const byOrigin = channels.filter(({ brands }) => typeof brands === 'object')
    // Messages parked by an earlier version lack the channel's name: their channel is known only if there is just one.
    const [match, another] =
      channel === undefined ? byOrigin : byOrigin.filter(({ consumer }) => consumer.name === channel)
    return another ? undefined : match?.brands
  }

  const replay =
    (brand: string): LaneHandler =>
    async (items) =>
      Promise.all(
        items.map(async ({ text }): Promise<Outcome> => {
          const reason = await replayMessage(text, brand)
          return reason === undefined
            ? { category: 'successful', rule: 'taken' }
            : refuseFailed('unreadable_link', { error: reason })
        }),
      )

  const lanes = brandsOf(channels).map((brand) =>
    queue.serveLane({ ...laneSettings, name: deviceLane(brand) }, replay(brand)),
  )

  return {
    lanes,
    start() {
      for (const lane of lanes) lane.start()
      consuming = Promise.all(channels.map((channel) => channel.consumer.consume(takeFrom(channel), stopping.signal)))
    },
    async stop(withinMs) {
      stopping.abort()
      await consuming
      await Promise.all(lanes.map((lane) => lane.stop(withinMs)))
    },
  }
}

const laneSettings: Omit<Lane, 'name'> = {
  order: 'none',
  max: 100,
  bytes: 4 * 1024 * 1024,
  spanMs: 0,
  concurrency: 1,
  timeoutMs: 30_000,
  keepFailed: true,
  retry: { firstMs: 500, mostMs: 30_000 },
}

/** The brands of all channels, and `-` if a channel assigns brands by origin. */
const brandsOf = (channels: readonly LinkChannel[]): readonly string[] => [
  ...new Set(
    channels.flatMap(({ brands }) => (typeof brands === 'string' ? [brands] : [noBrand, ...Object.values(brands)])),
  ),
]
