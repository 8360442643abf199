import { random } from './random.ts'

/** Exponential backoff: the delay doubles from `firstMs` up to `mostMs`. */
export interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
}

/** Upper limit for Retry-After, so that a wrong value cannot delay a message for days. */
export const longestRetryAfterMs = 10 * 60_000

/**
 * Delay before attempt number `attempt + 1`: exponential backoff with full jitter, so that requests which failed together are not
 * retried together. The delay is never shorter than Retry-After.
 *
 * @param attempt attempts so far, from 1
 * @example retryIn(3, { firstMs: 1_000, mostMs: 300_000 }) // somewhere from 0 to 4,000
 * @example retryIn(1, { firstMs: 1_000, mostMs: 300_000 }, 20_000) // 20,000
 */
export function retryIn(
  attempt: number,
  backoff: Backoff,
  retryAfterMs = 0,
  fraction: () => number = random.fraction,
): number {
  const doubled = backoff.firstMs * 2 ** Math.min(attempt - 1, 52)
  const jittered = Math.round(fraction() * Math.min(doubled, backoff.mostMs))
  return Math.max(jittered, Math.min(retryAfterMs, longestRetryAfterMs))
}
