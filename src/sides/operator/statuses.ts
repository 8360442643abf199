// The delivery statuses of the operator: composes the recorder, its sources on this side, and its retention.

import type { LaneService, Queue } from '../../base/queue/queue.ts'
import type { Database } from '../../base/store/database.ts'
import type { ContentMapping } from '../../contract/content.ts'
import type { Channel } from '../../contract/endpoints.ts'
import type { SettledOps } from '../../subjects/delivery/settle.ts'
import { createExpiry } from '../../subjects/inbox/expiry.ts'
import { createStatusOutbox, type StatusWebhook } from '../../subjects/status/outbox.ts'
import { firstStatuses } from '../../subjects/status/outcome-status.ts'
import type { ProviderReceipts } from '../../subjects/status/provider-receipts.ts'
import { createStatusRecorder, type StatusRecorder } from '../../subjects/status/recorder.ts'

export interface StatusOptions {
  /** Whether the platform can read statuses at GET /messages/status. Default: true. */
  readonly polling?: boolean
  /** The providers that report delivery statuses, at POST /receipts/NAME. */
  readonly receiptsFrom?: readonly ProviderReceipts[]
  /** Where the statuses of each brand are sent. Other brands can only be polled. */
  readonly webhooks?: readonly StatusWebhook[]
}

export interface Statuses {
  readonly recorder: StatusRecorder
  /** Records the outcomes of a channel, in the commit of their settle. */
  settledOps(channel: Channel): SettledOps
  /** The lanes of the webhooks. */
  readonly lanes: readonly LaneService[]
  start(): void
  stop(withinMs?: number): Promise<void>
}

export interface StatusParts {
  readonly database: Database
  readonly queue: Queue
  readonly options: StatusOptions
  /** The pointers to the meta of a request. */
  readonly meta: ContentMapping['meta']
  /** Whether the operator keeps the inbox itself: its messages are delivered with the settle. */
  readonly inbox: boolean
}

export function createStatuses({ database, queue, options, meta, inbox }: StatusParts): Statuses {
  const outbox = createStatusOutbox(queue, database, options.webhooks ?? [])
  const recorder = createStatusRecorder({ database, publishOps: outbox.publishOps })
  const expiry = inbox ? createExpiry(database, recorder.changeOps) : undefined
  return {
    recorder,
    settledOps(channel) {
      const success = channel === 'site' && inbox ? 'delivered' : 'sent'
      return (settled) => recorder.firstOps(firstStatuses(settled, success, meta))
    },
    lanes: outbox.lanes,
    start() {
      outbox.start()
      expiry?.start()
    },
    async stop(withinMs) {
      await expiry?.stop()
      await outbox.stop(withinMs)
    },
  }
}
