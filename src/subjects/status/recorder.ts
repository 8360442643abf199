// Records the statuses of messages. Every source of statuses uses it: the outcome of a send, the inbox, apps, service workers and
// the receipts of providers.

import { clock } from '../../base/runtime/clock.ts'
import { timeOfUuidv7 } from '../../base/runtime/ids.ts'
import type { Database, Op } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import type { Channel } from '../../contract/endpoints.ts'
import { type MessageStatus, statusSummary } from '../../contract/status.ts'
import { clampTo, type Timestamp, timestampOf } from '../../contract/timestamp.ts'
import {
  insertMessages,
  insertStatuses,
  type StatusMessage,
  type StatusOfMessage,
  selectMessages,
  selectStatuses,
} from './tables.ts'

export interface StatusChange {
  readonly brand: string
  /** push_id or site_notification_id. */
  readonly ref: string
  readonly status: MessageStatus
  readonly at: Timestamp
}

/** A status that begins the record of its message, with all that later statuses return (row 25). */
export interface FirstStatus extends StatusChange {
  readonly channel: Channel
  readonly userId: string
  /** JSON text: see statusMeta(). */
  readonly meta: string
}

export interface MessageStatuses {
  readonly summary: MessageStatus | undefined
  readonly statuses: readonly StatusOfMessage[]
}

export interface StatusRecorder {
  /** Operations that record the first statuses of messages, for a commit together with the cause. */
  firstOps(firsts: readonly FirstStatus[]): readonly Op[]
  /** Operations that record statuses of messages that have a record, for a commit together with the cause. */
  changeOps(changes: readonly StatusChange[]): readonly Op[]
  /**
   * Records statuses that another system or an app reports. They are on disk when the promise resolves. A status that is there
   * already changes nothing, and a step backwards changes no summary. A time more than 60 s ahead, or before the message,
   * is replaced by the present time.
   *
   * @param userId only messages of this user; absent: the caller may report for each user of its brands
   * @returns the identifiers that have no message of this brand and user; their statuses are not recorded
   */
  record(changes: readonly StatusChange[], userId?: string): Promise<readonly string[]>
  /** The statuses of a message, in the order of their times. */
  read(ref: string): Promise<MessageStatuses>
}

/** Puts statuses into the queue of the webhook, in the same commit. */
export type PublishStatuses = (changes: readonly StatusChange[]) => readonly Op[]

/**
 * @example
 * const statuses = createStatusRecorder({ database })
 * await statuses.record([{ brand: '1', ref: '0190…', status: 'clicked', at: '2026-01-31T10:00:00' }], '1001') // []
 */
export function createStatusRecorder({
  database,
  publishOps = () => [],
}: {
  readonly database: Pick<Database, 'read' | 'commit'>
  readonly publishOps?: PublishStatuses
}): StatusRecorder {
  function changeOps(changes: readonly StatusChange[]): readonly Op[] {
    if (changes.length === 0) return []
    const now = clock.now()
    const rows = changes.map(({ brand, ref, status, at }) => [ref, status, brand, at, now])
    return [op(insertStatuses, rows), ...publishOps(changes)]
  }

  return {
    changeOps,
    firstOps(firsts) {
      if (firsts.length === 0) return []
      const rows = firsts.map(({ brand, ref, channel, userId, meta }) => [ref, brand, channel, userId, meta])
      return [op(insertMessages, rows), ...changeOps(firsts)]
    },
    async record(changes, userId) {
      const refs = [...new Set(changes.map(({ ref }) => ref))]
      const found = await database.read(op(selectMessages, refs, (ref) => [ref]))
      const messageOf = new Map(found.map((message) => [message.ref, message]))
      const isKnown = ({ ref, brand }: StatusChange): boolean => isOf(messageOf.get(ref), brand, userId)
      const known = changes.filter(isKnown)
      if (known.length > 0) await database.commit(changeOps(known.map(correctTime(clock.now()))))
      const unknown = new Set(changes.filter((change) => !isKnown(change)).map(({ ref }) => ref))
      return [...unknown]
    },
    async read(ref) {
      const statuses = await database.read(op(selectStatuses, [[ref]]))
      const times = Object.fromEntries(statuses.map(({ status, at }) => [status, at]))
      return { summary: statusSummary(times), statuses }
    },
  }
}

/** Replaces a time that is more than 60 s ahead, or before the message, by the present time. */
export function correctTime(now: number): <Change extends StatusChange>(change: Change) => Change {
  const clamp = clampTo(now)
  return (change) => {
    const sentAt = timestampOf(timeOfUuidv7(change.ref) ?? 0)
    return { ...change, at: change.at < sentAt ? timestampOf(now) : clamp(change.at).at }
  }
}

function isOf(message: StatusMessage | undefined, brand: string, userId: string | undefined): boolean {
  return message !== undefined && message.brand === brand && (userId === undefined || message.user_id === userId)
}
