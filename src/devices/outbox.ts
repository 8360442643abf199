// The operator's outbox: every link and unlink that the registry stores is published to the platform (§1.4, §6.1). The event
// is put into the queue in the same commit and published from there, in order for each user, until it is accepted.

import { readUserKey, userKey } from '../queue/item-keys.ts'
import { outboxLane } from '../queue/outbox-lane.ts'
import type { Item, LaneService, Queue } from '../queue/queue.ts'
import type { DeviceMessage, DevicePublisher } from './device-channel.ts'
import { publishedRecord } from './published-record.ts'
import type { OutboxWriter } from './registry.ts'

/** The platform to which the links of one brand are published. */
export interface Publishing {
  readonly brand: string
  readonly publisher: DevicePublisher
  /** The providers whose devices are published (row 18); 'all' only if the platform accepts the others. Default: ['firebase']. */
  readonly providers?: readonly string[] | 'all'
  /** The origin in every published record; the origin of the event itself is not published. Default: bellwire. */
  readonly origin?: string
  readonly timeoutMs?: number
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number }
}

export interface Outbox extends OutboxWriter {
  readonly lanes: readonly LaneService[]
  start(): void
  stop(withinMs?: number): Promise<void>
}

/** The name of the lane of a brand's links, on both sides. */
export const deviceLane = (brand: string): string => `${brand}/device-links`

/**
 * Creates one lane for each brand, ordered by user. An event that the platform rejects for good (row 19) is parked, and the
 * user's next event follows. Any other failure is retried and delays only the events of that user, or the whole lane while the
 * platform is unavailable.
 *
 * A link that a later event replaces is published too. The owner of the lane has usually read it already, so that deleting its row
 * would not stop it, and only the owner may settle it. If the handler skipped it, its success would end the pause of the lane while
 * the platform is away. The limits of own-changes.ts bound the events of one user.
 *
 * @example
 * const outbox = createOutbox(queue, [{ brand: '1', publisher: restPublisher({ url, apiKey }) }])
 * const registry = createRegistry({ database, outbox })
 * outbox.start()
 */
export function createOutbox(queue: Queue, publishings: readonly Publishing[]): Outbox {
  const byBrand = new Map(publishings.map((publishing) => [publishing.brand, publishing]))
  const lanes = publishings.map((publishing) => serveLane(queue, publishing))
  return {
    lanes,
    publishOps(events) {
      const items = new Map<string, { key: string; text: string }[]>()
      for (const event of events) {
        const publishing = byBrand.get(event.brand)
        if (!publishing || event.skipPublishing) continue
        const { providers = ['firebase'], origin } = publishing
        const record = publishedRecord(event, origin)
        if (providers !== 'all' && !providers.includes(record.tokens[0]?.provider as string)) continue
        const lane = deviceLane(event.brand)
        const laneItems = items.get(lane) ?? []
        items.set(lane, laneItems)
        // Equal events have equal keys, so an event that comes again is not stored again.
        const key = userKey(event.what, event.userId, `${event.id}@${event.at}`)
        laneItems.push({ key, text: JSON.stringify(record) })
      }
      return [...items].flatMap(([lane, laneItems]) => queue.enqueueOps(lane, laneItems))
    },
    start() {
      for (const lane of lanes) lane.start()
    },
    async stop(withinMs) {
      await Promise.all(lanes.map((lane) => lane.stop(withinMs)))
      await Promise.all(publishings.map(({ publisher }) => publisher.close()))
    },
  }
}

function serveLane(queue: Queue, { brand, publisher, timeoutMs, retry }: Publishing): LaneService {
  const { max, concurrency } = publisher
  const lane = outboxLane({ name: deviceLane(brand), max, concurrency, timeoutMs, retry })
  return queue.serveLane(lane, (items, context) => publisher.publish(items.map(toMessage), context))
}

function toMessage({ lane, seq, key, text }: Item): DeviceMessage {
  const parts = readUserKey(key)
  if (!parts) throw new Error(`not an item of the outbox: ${key}`)
  return { id: `${lane}#${seq}`, what: parts.kind === 'link' ? 'link' : 'unlink', userId: parts.userId, body: text }
}
