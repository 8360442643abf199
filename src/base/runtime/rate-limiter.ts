import { createTokenBucket, type TokenBucket } from './token-bucket.ts'

/** A token bucket for each key. */
export interface RateLimiter {
  /** Takes `cost` tokens from the key's bucket. @returns 0; if too few are left, it takes none and returns the ms to wait */
  consume(key: string, cost: number, now: number): number
}

/**
 * Each key has a bucket of `count` tokens, refilled evenly over `perMs`. Only the `mostKeys` most recently used buckets are
 * kept, so that invented keys cannot fill the memory.
 *
 * @example
 * const limiter = createRateLimiter(200, 60_000)
 * const waitMs = limiter.consume('1 1001', 20, Date.now()) // 0
 */
export function createRateLimiter(count: number, perMs: number, mostKeys = 50_000): RateLimiter {
  const buckets = new Map<string, TokenBucket>()
  return {
    consume(key, cost, now) {
      const bucket = buckets.get(key) ?? createTokenBucket(count, perMs)
      // Moves the bucket to the end of the map: the most recently used one.
      buckets.delete(key)
      buckets.set(key, bucket)
      if (buckets.size > mostKeys) buckets.delete(buckets.keys().next().value as string)
      const waitMs = bucket.waitMs(cost, now)
      if (waitMs === 0) bucket.take(cost, now)
      return waitMs
    },
  }
}
