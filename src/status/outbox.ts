// The outbox of statuses: each status is put into the queue in the commit that records it, and sent from there to the platform,
// in order for each message, until it is accepted.

import { refuseFailed } from '../contract/refusals.ts'
import { type MessageStatus, messageStatuses } from '../contract/status.ts'
import type { StatusRecord } from '../contract/status-record.ts'
import type { PostContext } from '../http-client/call-platform.ts'
import { readUserKey, userKey } from '../queue/item-keys.ts'
import { outboxLane } from '../queue/outbox-lane.ts'
import type { HandledOutcome, Item, LaneService, NewItem, Queue } from '../queue/queue.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import type { PublishStatuses } from './recorder.ts'
import type { StatusSender } from './status-sender.ts'
import { selectMessages } from './tables.ts'

/** The platform to which the statuses of one brand are sent. */
export interface StatusWebhook {
  readonly brand: string
  readonly sender: StatusSender
  readonly timeoutMs?: number
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number }
}

export interface StatusOutbox {
  readonly lanes: readonly LaneService[]
  readonly publishOps: PublishStatuses
  start(): void
  stop(withinMs?: number): Promise<void>
}

/** The name of the lane of a brand's statuses. */
export const statusLane = (brand: string): string => `${brand}/status`

/**
 * Creates one lane for each brand, ordered by message. A status that the platform rejects for good is parked, and the next one of
 * its message follows. Any other failure is retried and delays only its message, or the whole lane while the platform is away.
 */
export function createStatusOutbox(
  queue: Queue,
  database: Pick<Database, 'read'>,
  webhooks: readonly StatusWebhook[],
): StatusOutbox {
  const byBrand = new Map(webhooks.map((webhook) => [webhook.brand, webhook]))
  const lanes = webhooks.map((webhook) => serveLane(queue, database, webhook))
  return {
    lanes,
    publishOps(changes) {
      const items = new Map<string, NewItem[]>()
      for (const { brand, ref, status, at } of changes) {
        if (!byBrand.get(brand)?.sender.supports(status)) continue
        const ofBrand = items.get(brand) ?? []
        items.set(brand, ofBrand)
        // A status that is reported again has the same key, so it is not stored again.
        ofBrand.push({ key: userKey('status', ref, status), text: JSON.stringify({ at }) })
      }
      return [...items].flatMap(([brand, ofBrand]) => queue.enqueueOps(statusLane(brand), ofBrand))
    },
    start() {
      for (const lane of lanes) lane.start()
    },
    async stop(withinMs) {
      await Promise.all(lanes.map((lane) => lane.stop(withinMs)))
      await Promise.all(webhooks.map(({ sender }) => sender.close()))
    },
  }
}

function serveLane(
  queue: Queue,
  database: Pick<Database, 'read'>,
  { brand, sender, timeoutMs, retry }: StatusWebhook,
): LaneService {
  const { max, concurrency } = sender
  const lane = outboxLane({ name: statusLane(brand), max, concurrency, timeoutMs, retry })
  return queue.serveLane(lane, (items, context) => sendItems(database, sender, items, context))
}

/** The meta is read when the status is sent, so that it is stored once for each message, and an erased one is not sent. */
async function sendItems(
  database: Pick<Database, 'read'>,
  sender: StatusSender,
  items: readonly Item[],
  context: PostContext,
): Promise<readonly HandledOutcome[]> {
  const changes = items.map(readItem)
  const refs = new Set(changes.map(({ ref }) => ref))
  const found = await database.read(
    op(
      selectMessages,
      [...refs].map((ref) => [ref]),
    ),
  )
  const messageOf = new Map(found.map((message) => [message.ref, message]))
  const records = changes.map(({ ref, status, at }): StatusRecord | undefined => {
    const message = messageOf.get(ref)
    return message && { channel: message.channel, ref, status, at, meta: message.meta }
  })
  const known = records.filter((record) => record !== undefined)
  const sent = known.length > 0 ? await sender.send(known, context) : []
  const outcomes = sent.values()
  return records.map((record) =>
    record ? (outcomes.next().value as HandledOutcome) : refuseFailed('status_forgotten'),
  )
}

function readItem({ key, text }: Item): { readonly ref: string; readonly status: MessageStatus; readonly at: string } {
  const parts = readUserKey(key)
  const status = messageStatuses.find((each) => each === parts?.id)
  if (!parts || !status) throw new Error(`not an item of the outbox of statuses: ${key}`)
  return { ref: parts.userId, status, at: (JSON.parse(text) as { at: string }).at }
}
