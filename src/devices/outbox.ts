// The operator's outbox: every link and unlink that its registry learns is told to the platform (§1.4, §6.1). It is put into
// the queue in the same commit, and published from there, in order per user, for as long as it takes.

import { readUserKey, userKey } from '../queue/parts.ts'
import type { Item, LaneService, Queue } from '../queue/queue.ts'
import type { DeviceMessage, DevicePublisher } from './device-channel.ts'
import { publishedRecord } from './published-record.ts'
import type { Told } from './registry.ts'

/** Where the links of one brand are published, and which. */
export interface Publishing {
  readonly brand: string
  readonly publisher: DevicePublisher
  /** Row 18: towards a foreign platform only firebase; 'all' towards one that knows more. ['firebase'] */
  readonly providers?: readonly string[] | 'all'
  /** The origin of all published events, in place of the origin in an event. bellwire. */
  readonly origin?: string
  readonly timeoutMs?: number
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number }
}

export interface Outbox extends Told {
  readonly lanes: readonly LaneService[]
  start(): void
  stop(withinMs?: number): Promise<void>
}

/** The lane of a brand's links, on either side. */
export const deviceLane = (brand: string): string => `${brand}/device-links`

/**
 * One lane for each brand, ordered by user: what the platform refuses for good (row 19) is parked and the user's next event
 * goes on; anything else is tried again and holds only that user's events, or all of them where the platform itself is away.
 *
 * @example
 * const outbox = createOutbox(queue, [{ brand: '1', publisher: restPublisher({ url, apiKey }) }])
 * const registry = createRegistry({ database, told: outbox })
 * outbox.start()
 */
export function createOutbox(queue: Queue, publishings: readonly Publishing[]): Outbox {
  const byBrand = new Map(publishings.map((publishing) => [publishing.brand, publishing]))
  const lanes = publishings.map((publishing) => serve(queue, publishing))
  return {
    lanes,
    tell(events) {
      const items = new Map<string, { key: string; text: string }[]>()
      for (const event of events) {
        const publishing = byBrand.get(event.brand)
        if (!publishing || event.skipPublishing) continue
        const { providers = ['firebase'], origin } = publishing
        const record = publishedRecord(event, origin)
        if (providers !== 'all' && !providers.includes(record.tokens[0]?.provider as string)) continue
        const lane = deviceLane(event.brand)
        const mine = items.get(lane) ?? []
        items.set(lane, mine)
        // The same event is the same item, however often it is told.
        const key = userKey(event.what, event.userId, `${event.id}@${event.at}`)
        mine.push({ key, text: JSON.stringify(record) })
      }
      return [...items].flatMap(([lane, mine]) => queue.put(lane, mine))
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

function serve(queue: Queue, { brand, publisher, timeoutMs = 15_000, retry }: Publishing): LaneService {
  const lane = {
    name: deviceLane(brand),
    order: 'user',
    max: publisher.max,
    bytes: 2 * 1024 * 1024,
    spanMs: 0,
    concurrency: publisher.concurrency,
    timeoutMs,
    keepFailed: true,
    retry: { firstMs: retry?.firstMs ?? 1_000, mostMs: retry?.mostMs ?? 300_000 },
  } as const
  return queue.serve(lane, (items, context) => publisher.publish(items.map(toMessage), context))
}

function toMessage({ lane, seq, key, text }: Item): DeviceMessage {
  const parts = readUserKey(key)
  if (!parts) throw new Error(`not an item of the outbox: ${key}`)
  return { id: `${lane}#${seq}`, what: parts.what === 'link' ? 'link' : 'unlink', userId: parts.userId, body: text }
}
