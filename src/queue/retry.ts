// What a fatal outcome means for its item. Pure.

import type { Fatal } from '../contract/outcome.ts'
import { retryIn } from '../runtime/backoff.ts'
import type { Lane } from './queue.ts'
import type { Row } from './row.ts'

/** Put off for longer than this, an item is written down and leaves the memory. */
export const longestInMemoryMs = 30_000

export type Verdict =
  | { readonly is: 'given up'; readonly error: string }
  | { readonly is: 'again'; readonly inMs: number; readonly putOff: boolean }

/**
 * Retries go on until they succeed (§7.1), unless the lane sets a limit.
 *
 * @param row with the attempt that just ended
 * @param how `counts`: the attempt counts (row 53); `crowded`: memory is better used for others
 */
export function afterFatal(
  { attempt, uncounted }: Pick<Row, 'attempt' | 'uncounted'>,
  outcome: Fatal,
  retry: Lane['retry'],
  { counts, crowded }: { readonly counts: boolean; readonly crowded: boolean },
  random?: () => number,
): Verdict {
  if (counts && retry.attempts !== undefined && attempt >= retry.attempts) {
    return { is: 'given up', error: `given up after ${attempt} attempts: ${outcome.error}` }
  }
  const inMs = retryIn(attempt + uncounted, retry, outcome.retryAfterMs, random)
  // An attempt that does not count is not stored: its backoff would begin again.
  return { is: 'again', inMs, putOff: crowded || (counts && inMs > longestInMemoryMs) }
}
