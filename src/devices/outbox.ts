// The operator's outbox: every link and unlink that the registry stores is published to the platform (§1.4, §6.1). The event
// is put into the queue in the same commit and published from there, in order for each user, until it is accepted.

import type { Outcome } from '../contract/outcome.ts'
import { readUserKey, userKey } from '../queue/item-keys.ts'
import { outboxLane } from '../queue/outbox-lane.ts'
import type { Item, LaneService, Queue } from '../queue/queue.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import type { DeviceMessage, DevicePublisher } from './device-channel.ts'
import { stateOf } from './device-rows.ts'
import { owner } from './ownership.ts'
import { publishedRecord } from './published-record.ts'
import type { OutboxWriter } from './registry.ts'
import { selectStates } from './tables.ts'

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
 * @example
 * const outbox = createOutbox(queue, [{ brand: '1', publisher: restPublisher({ url, apiKey }) }], database)
 * const registry = createRegistry({ database, outbox })
 * outbox.start()
 */
export function createOutbox(
  queue: Queue,
  publishings: readonly Publishing[],
  database: Pick<Database, 'read'>,
): Outbox {
  const byBrand = new Map(publishings.map((publishing) => [publishing.brand, publishing]))
  const lanes = publishings.map((publishing) => serveLane(queue, publishing, database))
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

function serveLane(
  queue: Queue,
  { brand, publisher, timeoutMs, retry }: Publishing,
  database: Pick<Database, 'read'>,
): LaneService {
  const { max, concurrency } = publisher
  const lane = outboxLane({ name: deviceLane(brand), max, concurrency, timeoutMs, retry })
  return queue.serveLane(lane, async (items, context) => {
    const replaced = await findReplaced(database, brand, items)
    const published = items.filter((item) => !replaced.has(item))
    const outcomes = published.length > 0 ? await publisher.publish(published.map(toMessage), context) : []
    const outcomeOf = new Map(published.map((item, i) => [item, outcomes[i] as Outcome]))
    return items.map((item) => outcomeOf.get(item) ?? replacedLink)
  })
}

const replacedLink: Outcome = { category: 'successful', rule: 'replaced before it was published' }

/** The links whose device belongs to another user or to nobody by now: the platform need not know that they existed. */
async function findReplaced(
  database: Pick<Database, 'read'>,
  brand: string,
  items: readonly Item[],
): Promise<ReadonlySet<Item>> {
  const links = items.flatMap((item) => {
    const parts = readUserKey(item.key)
    return parts?.kind === 'link' ? [{ item, userId: parts.userId, id: parts.id.slice(0, parts.id.indexOf('@')) }] : []
  })
  if (links.length === 0) return new Set()
  const rows = links.map(({ id, userId }, ticket) => [ticket, brand, id, userId])
  const states = await database.read(op(selectStates, rows))
  return new Set(
    states.flatMap((row) => {
      const { item, userId } = links[row.ticket] as (typeof links)[number]
      return row.link_at !== null && owner(stateOf({ userId }, row)) !== userId ? [item] : []
    }),
  )
}

function toMessage({ lane, seq, key, text }: Item): DeviceMessage {
  const parts = readUserKey(key)
  if (!parts) throw new Error(`not an item of the outbox: ${key}`)
  return { id: `${lane}#${seq}`, what: parts.kind === 'link' ? 'link' : 'unlink', userId: parts.userId, body: text }
}
