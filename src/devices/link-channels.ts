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

  const park = (parked: readonly Parked[]): readonly Op[] =>
    [...Map.groupBy(parked, ({ brand }) => deviceLane(brand ?? ofNoBrand))].flatMap(([lane, mine]) =>
      queue.park(
        lane,
        mine.map(({ key, message, reason }) => ({
          key,
          text: parkedText(message, Date.now()),
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

  const takeOf = (brands: Brands) => takeMessages({ registry, judge, brands, park, onParked })

  /** Once more, with the rules of now. */
  function replay(brands: Brands): Handle {
    return async (items) =>
      Promise.all(
        items.map(async ({ text }): Promise<Outcome> => {
          const { cut, ...message } = unparked(text)
          let reason = cut ? 'only its beginning was kept: have it published again, in smaller parts' : undefined
          if (!cut) {
            const again = takeMessages({
              registry,
              judge,
              brands,
              park: ([parked]) => {
                reason = parked?.reason
                return []
              },
            })
            await again([message])
          }
          return reason === undefined
            ? { category: 'successful', rule: 'taken' }
            : { category: 'failed', reason: 'invalid', error: reason, rule: 'row 22: cannot be read' }
        }),
      )
  }

  const lanes = [...brandsOf(channels)].map(([brand, brands]) =>
    queue.serve({ ...replays, name: deviceLane(brand) }, replay(brands)),
  )

  return {
    lanes,
    start() {
      for (const lane of lanes) lane.start()
      consuming = Promise.all(channels.map(({ consumer, brands }) => consumer.consume(takeOf(brands), stopping.signal)))
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

/** Each brand that has channels, and how its parked messages are read: by the brand, or all origins where none is known. */
function brandsOf(channels: readonly LinkChannel[]): Map<string, Brands> {
  const lanes = new Map<string, Brands>()
  for (const { brands } of channels) {
    if (typeof brands === 'string') {
      lanes.set(brands, brands)
      continue
    }
    lanes.set(ofNoBrand, { ...(lanes.get(ofNoBrand) as Record<string, string> | undefined), ...brands })
    for (const brand of Object.values(brands)) if (!lanes.has(brand)) lanes.set(brand, brand)
  }
  return lanes
}
