// What a fatal outcome means for its item. Pure.

import type { Fatal } from '../contract/outcome.ts'
import { retryIn } from '../runtime/backoff.ts'
import type { Lane } from './queue.ts'

/** Put off for longer than this, an item is written down and leaves the memory. */
export const longestInMemoryMs = 30_000

export type Verdict =
  | { readonly is: 'given up'; readonly error: string }
  | { readonly is: 'again'; readonly inMs: number; readonly putOff: boolean }

/**
 * Retries go on until they succeed (§7.1), unless the lane sets a limit.
 *
 * @param attempt the one that just ended, from 1
 * @param crowded memory is better used for others
 */
export function afterFatal(
  attempt: number,
  outcome: Fatal,
  retry: Lane['retry'],
  crowded: boolean,
  random?: () => number,
): Verdict {
  if (retry.attempts !== undefined && attempt >= retry.attempts) {
    return { is: 'given up', error: `given up after ${attempt} attempts: ${outcome.error}` }
  }
  const inMs = retryIn(attempt, retry, outcome.retryAfterMs, random)
  return { is: 'again', inMs, putOff: crowded || inMs > longestInMemoryMs }
}
