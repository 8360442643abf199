// Decides when a batch is sent and which items it contains (§4.1 rule 3). Pure: clock.steady() is passed in as `now`.

import { readBatchId } from '../item-keys.ts'
import type { BufferedItem } from './buffered-item.ts'

export interface BatchLimits {
  readonly max: number
  readonly bytes: number
  readonly spanMs: number
  readonly order: 'none' | 'lane' | 'user'
}

/** The items at the front of a BatchSource that make up a batch. */
export interface BatchCut {
  /** How many items were examined, from the front. */
  readonly scanned: number
  /** Indexes of the examined items that stay in their place, ascending. */
  readonly skipped: readonly number[]
  readonly bytes: number
  readonly full: boolean
}

/** Items that wait for a batch: `at(0)` has waited longest. */
export interface BatchSource {
  readonly length: number
  readonly bytes: number
  at(index: number): BufferedItem
}

/** Whether a user of an ordered lane has items in a running call or items that wait for a retry. */
export type IsBlocked = (user: string) => boolean

/** The most items with an id of the batch that are skipped to find another item. */
const maxSkipped = 1_000

/**
 * Cuts a batch when the message count or the byte limit is reached, or when the first message has waited for the time span.
 * No batch contains an activity.id twice: the answer could not distinguish the two messages (§4.1 rule 4).
 *
 * @returns the batch, or how many milliseconds to wait (Infinity: until an item arrives)
 * @example cutBatch(buffer, { max: 500, bytes: 4_194_304, spanMs: 200, order: 'none' }, Date.now())
 */
export function cutBatch(
  source: BatchSource,
  limits: BatchLimits,
  now: number,
  isBlocked: IsBlocked = () => false,
): BatchCut | { readonly waitMs: number } {
  if (source.length === 0) return { waitMs: Number.POSITIVE_INFINITY }
  const waitMs = source.at(0).waitingSince + limits.spanMs - now
  if (waitMs > 0 && source.length < limits.max && source.bytes < limits.bytes) return { waitMs }
  const cut = limits.order === 'user' ? cutByUser(source, limits, isBlocked) : cutById(source, limits)
  if (cut.scanned === cut.skipped.length) return { waitMs: Number.POSITIVE_INFINITY }
  return cut.full || waitMs <= 0 ? cut : { waitMs }
}

/** A batch may contain many items of a user, in order, but a user is never in two calls at once. */
function cutByUser(source: BatchSource, { max, bytes: maxBytes }: BatchLimits, isBlocked: IsBlocked): BatchCut {
  const skipped: number[] = []
  let bytes = 0
  for (let i = 0; i < source.length; i++) {
    const item = source.at(i)
    if (isBlocked(orderingUser(item))) {
      skipped.push(i)
      continue
    }
    const included = i - skipped.length
    if (included > 0 && bytes + item.bytes > maxBytes) return { scanned: i, skipped, bytes, full: true }
    bytes += item.bytes
    if (included + 1 === max) return { scanned: i + 1, skipped, bytes, full: true }
  }
  return { scanned: source.length, skipped, bytes, full: bytes >= maxBytes }
}

function cutById(source: BatchSource, { max, bytes: maxBytes, order }: BatchLimits): BatchCut {
  if (max === 1) return { scanned: 1, skipped: [], bytes: source.at(0).bytes, full: true }
  const ids = new Set<string>()
  const skipped: number[] = []
  let bytes = 0
  for (let i = 0; i < source.length; i++) {
    const item = source.at(i)
    const id = batchIdOf(item)
    if (ids.has(id)) {
      // An ordered lane must not skip an item: the batch ends here.
      if (order === 'lane' || skipped.length === maxSkipped) return { scanned: i, skipped, bytes, full: true }
      skipped.push(i)
      continue
    }
    if (ids.size > 0 && bytes + item.bytes > maxBytes) return { scanned: i, skipped, bytes, full: true }
    ids.add(id)
    bytes += item.bytes
    if (ids.size === max) return { scanned: i + 1, skipped, bytes, full: true }
  }
  return { scanned: source.length, skipped, bytes, full: bytes >= maxBytes }
}

/**
 * The first message that was not fatal yet in this outage: a message that was fatal may itself be the cause.
 *
 * @param deliveringCalls the number of calls that delivered a message
 */
export function cutUnsuspectedItem(
  source: BatchSource,
  deliveringCalls: number,
): Pick<BatchCut, 'scanned' | 'skipped'> {
  let index = 0
  while (index < source.length && source.at(index).suspectedAtCall === deliveringCalls) index++
  if (index === source.length) index = 0
  return { scanned: index + 1, skipped: Array.from({ length: index }, (_, i) => i) }
}

/** The user of an item in a lane that is ordered by user: the second element of the key. */
export const orderingUser = batchIdOf

function batchIdOf(item: BufferedItem): string {
  item.batchId ??= readBatchId(item.key)
  return item.batchId
}
