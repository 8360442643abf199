// Row 23: the delivery statuses of a message, and the rule that makes one summary of them.
//
// A message has each status at most once, with its first time. So merging two sets of statuses is commutative, associative and
// idempotent: reports may arrive late, twice and in any order, over several ways.

import type { Timestamp } from './timestamp.ts'

/**
 * accepted: a provider took the message. sent: a push service took it. delivered: it is on the device or in the inbox.
 * displayed: the person could see it. opened: the person read it. failed and expired: it will not be delivered.
 */
export const messageStatuses = [
  'accepted',
  'sent',
  'delivered',
  'displayed',
  'opened',
  'dismissed',
  'archived',
  'clicked',
  'failed',
  'expired',
] as const
export type MessageStatus = (typeof messageStatuses)[number]

export function isMessageStatus(value: unknown): value is MessageStatus {
  return (messageStatuses as readonly unknown[]).includes(value)
}

/** The first time of each status that was reported. */
export type StatusTimes = Readonly<Partial<Record<MessageStatus, Timestamp>>>

/** The order of the summary. failed and expired are below all others, see statusSummary(). */
const ranks: Readonly<Record<MessageStatus, number>> = {
  expired: 0,
  failed: 0,
  accepted: 1,
  sent: 2,
  delivered: 3,
  displayed: 4,
  opened: 5,
  dismissed: 6,
  archived: 6,
  clicked: 7,
}

/**
 * Adds a status. A status that is already there keeps its first time, and a lower status than the summary is kept beside it.
 *
 * @returns the same object if nothing changed
 * @example withStatus({ clicked: '2026-01-01T10:00:05' }, 'displayed', '2026-01-01T10:00:00') // both; the summary stays clicked
 */
export function withStatus(times: StatusTimes, status: MessageStatus, at: Timestamp): StatusTimes {
  const before = times[status]
  return before !== undefined && before <= at ? times : { ...times, [status]: at }
}

/**
 * The highest status. `failed` and `expired` count only if nothing from `delivered` up was reported, and if the message was not
 * accepted or sent later, as after a replay. `failed` counts before `expired`, because it has a cause. `dismissed` and `archived`
 * are equal: the later one counts.
 *
 * @returns undefined if no status was reported
 * @example statusSummary({ dismissed: '2026-01-01T10:00:00', clicked: '2026-01-01T09:00:00' }) // 'clicked'
 */
export function statusSummary(times: StatusTimes): MessageStatus | undefined {
  let highest: MessageStatus | undefined
  for (const status of messageStatuses) {
    if (times[status] === undefined || ranks[status] === 0) continue
    if (highest === undefined || isAbove(status, highest, times)) highest = status
  }
  const end = times.failed === undefined ? 'expired' : 'failed'
  const endedAt = times[end]
  if (highest === undefined) return endedAt === undefined ? undefined : end
  const goesOn = ranks[highest] >= ranks.delivered || endedAt === undefined || (times[highest] as Timestamp) > endedAt
  return goesOn ? highest : end
}

function isAbove(status: MessageStatus, other: MessageStatus, times: StatusTimes): boolean {
  const difference = ranks[status] - ranks[other]
  return difference !== 0 ? difference > 0 : (times[status] as Timestamp) >= (times[other] as Timestamp)
}
