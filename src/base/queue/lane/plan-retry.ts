// The next step for an item after a fatal outcome. Pure.

import type { Fatal } from '../../../contract/outcome.ts'
import { retryIn } from '../../runtime/backoff.ts'
import type { Lane } from '../queue.ts'
import type { BufferedItem } from './buffered-item.ts'

/** An item with a longer delay is postponed in the database and leaves the memory. */
export const maxDelayInMemoryMs = 30_000

export type RetryPlan =
  | { readonly action: 'give up'; readonly error: string }
  | { readonly action: 'retry'; readonly inMs: number; readonly postpone: boolean }

/**
 * Retries continue until they succeed (§7.1), unless the lane sets a limit.
 *
 * @param item the item, with the number of the attempt that just ended
 * @param conditions `counts`: the attempt counts (row 53). `memoryFull`: delayed items must leave the memory.
 */
export function planRetry(
  { attempt, uncountedAttempts }: Pick<BufferedItem, 'attempt' | 'uncountedAttempts'>,
  outcome: Fatal,
  retry: Lane['retry'],
  { counts, memoryFull }: { readonly counts: boolean; readonly memoryFull: boolean },
  random?: () => number,
): RetryPlan {
  if (counts && retry.attempts !== undefined && attempt >= retry.attempts) {
    return { action: 'give up', error: `given up after ${attempt} attempts: ${outcome.error}` }
  }
  const inMs = retryIn(attempt + uncountedAttempts, retry, outcome.retryAfterMs, random)
  // Uncounted attempts are not stored: postponing such an item would restart its backoff.
  return { action: 'retry', inMs, postpone: memoryFull || (counts && inMs > maxDelayInMemoryMs) }
}
