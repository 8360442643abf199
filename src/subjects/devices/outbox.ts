// The operator's outbox: every link and unlink that the registry stores is published to the platform (§1.4, §6.1).

import { readUserKey, userKey } from '../../base/queue/item-keys.ts'
import { createOutbox, type Outbox, type OutboxLane } from '../../base/queue/outbox.ts'
import type { Item, Queue } from '../../base/queue/queue.ts'
import type { StampedEvent } from './device-event.ts'
import type { DeviceMessage, DevicePublisher } from './device-publisher.ts'
import { publishedRecord } from './published-record.ts'

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

/** The name of the lane of a brand's links, on both sides. */
export const deviceLane = (brand: string): string => `${brand}/device-links`

/**
 * An event that the platform rejects for good (row 19) is parked.
 *
 * A link that a later event replaces is published too. The owner of the lane has usually read it already, so that deleting its row
 * would not stop it, and only the owner may settle it. If the handler skipped it, its success would end the pause of the lane while
 * the platform is away. The limits of own-changes.ts bound the events of one user.
 *
 * @example
 * const outbox = createDeviceOutbox(queue, [{ brand: '1', publisher: restPublisher({ url, apiKey }) }])
 * const registry = createRegistry({ database, outbox })
 * outbox.start()
 */
export const createDeviceOutbox = (queue: Queue, publishings: readonly Publishing[]): Outbox<StampedEvent> =>
  createOutbox(queue, publishings.map(laneOf))

function laneOf({ publisher, providers = ['firebase'], origin, ...publishing }: Publishing): OutboxLane<StampedEvent> {
  const { max, concurrency } = publisher
  return {
    ...publishing,
    name: deviceLane(publishing.brand),
    max,
    concurrency,
    toItem(event) {
      if (event.skipPublishing) return undefined
      const record = publishedRecord(event, origin)
      if (providers !== 'all' && !providers.includes(record.tokens[0]?.provider as string)) return undefined
      // Equal events have equal keys, so an event that comes again is not stored again.
      return { key: userKey(event.what, event.userId, `${event.id}@${event.at}`), text: JSON.stringify(record) }
    },
    send: (items, context) => publisher.publish(items.map(toMessage), context),
    close: () => publisher.close(),
  }
}

function toMessage({ lane, seq, key, text }: Item): DeviceMessage {
  const parts = readUserKey(key)
  if (!parts) throw new Error(`not an item of the outbox: ${key}`)
  return { id: `${lane}#${seq}`, what: parts.kind === 'link' ? 'link' : 'unlink', userId: parts.userId, body: text }
}
