/** How much each key may still use. */
export interface RateLimiter {
  /** Takes `cost` from the key's allowance. @returns 0; or, if there is not enough left, nothing is taken: how many milliseconds to wait */
  take(key: string, cost: number, now: number): number
}

interface Bucket {
  left: number
  at: number
}

/**
 * Gives each key `count` in `perMs`, evenly refilled (a token bucket). The keys that were used the longest time ago are forgotten
 * beyond `mostKeys`: whoever makes up keys grows nothing.
 *
 * @example
 * const limiter = createRateLimiter(200, 60_000)
 * const waitMs = limiter.consume('1 1001', 20, Date.now()) // 0
 */
export function createRateLimiter(count: number, perMs: number, mostKeys = 50_000): RateLimiter {
  const buckets = new Map<string, Bucket>()
  return {
    take(key, cost, now) {
      const bucket = buckets.get(key) ?? { left: count, at: now }
      bucket.left = Math.min(count, bucket.left + ((now - bucket.at) * count) / perMs)
      bucket.at = now
      // Last in the order of the map: used last.
      buckets.delete(key)
      buckets.set(key, bucket)
      if (buckets.size > mostKeys) buckets.delete(buckets.keys().next().value as string)
      if (cost > bucket.left) return Math.ceil(((Math.min(cost, count) - bucket.left) * perMs) / count)
      bucket.left -= cost
      return 0
    },
  }
}
