import type { BufferedItem } from '../../src/base/queue/lane/buffered-item.ts'
import { messageKey } from '../../src/contract/message-key.ts'

/** The key of a push message of this user with this activity.id. */
export const keyOf = (id: number | string, userId = '1001'): string =>
  messageKey('push', { id: String(id), userId, activityId: '7', actionId: '9', triggerHash: 'hash' })

/** An item in memory that waits since time 0. */
export function bufferedItem(seq: number, over: Partial<BufferedItem> = {}): BufferedItem {
  return {
    seq,
    lane: '1/push',
    key: keyOf(seq),
    text: 'text',
    attempt: 1,
    enqueuedAt: 0,
    dueAt: 0,
    waitingSince: 0,
    bytes: 10,
    suspectedAtCall: undefined,
    uncountedAttempts: 0,
    batchId: undefined,
    earlierAttempts: undefined,
    ...over,
  }
}

export const bufferedItems = (from: number, count: number, over: Partial<BufferedItem> = {}): BufferedItem[] =>
  Array.from({ length: count }, (_, i) => bufferedItem(from + i, over))
