// The outbox of statuses: each status that is recorded is sent to the platform, in order for each message.

import type { PostContext } from '../../base/http-client/call-platform.ts'
import { readUserKey, userKey } from '../../base/queue/item-keys.ts'
import { createOutbox, type Outbox } from '../../base/queue/outbox.ts'
import type { HandledOutcome, Item, Queue } from '../../base/queue/queue.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { refuseFailed } from '../../contract/refusals.ts'
import { type MessageStatus, messageStatuses } from '../../contract/status.ts'
import type { StatusRecord } from '../../contract/status-record.ts'
import type { StatusChange } from './recorder.ts'
import type { StatusSender } from './status-sender.ts'
import { selectMessages } from './tables.ts'

/** The platform to which the statuses of one brand are sent. */
export interface StatusWebhook {
  readonly brand: string
  readonly sender: StatusSender
  readonly timeoutMs?: number
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number }
}

/** The name of the lane of a brand's statuses. */
export const statusLane = (brand: string): string => `${brand}/status`

/** The order of the lanes is by message. */
export const createStatusOutbox = (
  queue: Queue,
  database: Pick<Database, 'read'>,
  webhooks: readonly StatusWebhook[],
): Outbox<StatusChange> =>
  createOutbox(
    queue,
    webhooks.map(({ sender, ...webhook }) => ({
      ...webhook,
      name: statusLane(webhook.brand),
      max: sender.max,
      concurrency: sender.concurrency,
      // A status that is reported again has the same key, so it is not stored again.
      toItem: ({ ref, status, at }) =>
        sender.supports(status) ? { key: userKey('status', ref, status), text: JSON.stringify({ at }) } : undefined,
      send: (items, context) => sendItems(database, sender, items, context),
      close: () => sender.close(),
    })),
  )

/** The meta is read when the status is sent, so that it is stored once for each message, and an erased one is not sent. */
async function sendItems(
  database: Pick<Database, 'read'>,
  sender: StatusSender,
  items: readonly Item[],
  context: PostContext,
): Promise<readonly HandledOutcome[]> {
  const changes = items.map(readItem)
  const refs = new Set(changes.map(({ ref }) => ref))
  const found = await database.read(op(selectMessages, [...refs], (ref) => [ref]))
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
