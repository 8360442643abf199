import { messageKey } from '../../src/contract/message-key.ts'
import type { Row } from '../../src/queue/row.ts'

/** The key of a push message of this user with this activity.id. */
export const keyOf = (id: number | string, userId = '1001'): string =>
  messageKey('push', { id: String(id), userId, activityId: '7', actionId: '9', triggerHash: 'hash' })

/** A row in memory, waiting since 0. */
export function row(seq: number, over: Partial<Row> = {}): Row {
  return {
    seq,
    lane: '1/push',
    key: keyOf(seq),
    text: 'text',
    attempt: 1,
    putAt: 0,
    dueAt: 0,
    since: 0,
    bytes: 10,
    doubtedAt: undefined,
    uncounted: 0,
    id: undefined,
    ...over,
  }
}

export const rows = (from: number, count: number, over: Partial<Row> = {}): Row[] =>
  Array.from({ length: count }, (_, i) => row(from + i, over))

export const seqs = (of: readonly { readonly seq: number }[]): number[] => of.map(({ seq }) => seq)
