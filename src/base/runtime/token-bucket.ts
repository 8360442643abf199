/** Limits a rate, and permits bursts up to its size. It reads no clock: the caller passes `now` of the monotonic clock. */
export interface TokenBucket {
  /** How long until the bucket has this many tokens, or is full; 0: it has them now. */
  waitMs(tokens: number, now: number): number
  /** Takes tokens that the bucket has. */
  take(tokens: number, now: number): void
}

/**
 * @param size the most tokens, which it has at the beginning
 * @param fillMs how long it takes to fill the empty bucket
 * @example
 * const bucket = createTokenBucket(200, 60_000)
 * if (bucket.waitMs(20, now) === 0) bucket.take(20, now)
 */
export function createTokenBucket(size: number, fillMs: number): TokenBucket {
  let left = size
  let refilledAt: number | undefined

  function refill(now: number): void {
    const elapsedMs = now - (refilledAt ?? now)
    left = Math.min(size, left + (elapsedMs * size) / fillMs)
    refilledAt = now
  }

  return {
    waitMs(tokens, now) {
      refill(now)
      return tokens <= left ? 0 : Math.ceil(((Math.min(tokens, size) - left) * fillMs) / size)
    },
    take(tokens, now) {
      refill(now)
      left -= tokens
    },
  }
}
