import type { Item } from '../queue.ts'
import type { EarlierAttempt } from './attempts.ts'

/** An item in the memory of its lane's owner. */
export interface BufferedItem extends Item {
  /** The number of this attempt, from 1. The database has an older number until the item is postponed. */
  attempt: number
  /** The item's `due_at` in the database, a part of its primary key. */
  readonly dueAt: number
  /** Since when the item waits for a batch, by clock.steady(): enqueued, or returned after a failed attempt. */
  waitingSince: number
  readonly bytes: number
  /** `deliveringCalls` of the provider's health when the item was last fatal for an unclear reason. Undefined: it never was. */
  suspectedAtCall: number | undefined
  /** Attempts that do not count (row 53). They lengthen the item's backoff. */
  uncountedAttempts: number
  /** activity.id, read from the key on first use. */
  batchId: string | undefined
  /** Counted attempts that ended fatal and are not written yet. */
  earlierAttempts: EarlierAttempt[] | undefined
}
