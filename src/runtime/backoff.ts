/** When to try again. Doubles from `firstMs` to `mostMs`. */
export interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
}

/** A Retry-After is honoured, but not beyond this: a wrong one must not park a message for days. */
export const longestRetryAfterMs = 10 * 60_000

/**
 * How long to wait before try number `attempt + 1`: exponential with full jitter, so that what failed together does not
 * come back together. What the other side asked for (Retry-After) is the least.
 *
 * @param attempt tries so far, from 1
 * @example retryIn(3, { firstMs: 1_000, mostMs: 300_000 }) // somewhere from 0 to 4,000
 * @example retryIn(1, { firstMs: 1_000, mostMs: 300_000 }, 20_000) // 20,000
 */
export function retryIn(
  attempt: number,
  backoff: Backoff,
  retryAfterMs = 0,
  random: () => number = Math.random,
): number {
  const doubled = backoff.firstMs * 2 ** Math.min(attempt - 1, 52)
  const jittered = Math.round(random() * Math.min(doubled, backoff.mostMs))
  return Math.max(jittered, Math.min(retryAfterMs, longestRetryAfterMs))
}
