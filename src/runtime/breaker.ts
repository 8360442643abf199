// When the other side is away, asking it again and again helps nobody: after a few failures in a row nothing is sent for a
// while, then one call tries. Pure but for its own state; `now` is passed in.

export interface BreakerOptions {
  /** So many failures in a row open it. */
  readonly after: number
  /** How long it stays open at first, and at most; doubled by each probe that fails. Milliseconds. */
  readonly firstMs: number
  readonly mostMs: number
}

export const breakerDefaults: BreakerOptions = { after: 5, firstMs: 1_000, mostMs: 60_000 }

export interface Breaker {
  /** Undefined: go ahead (and say how it ended). A number: not now, try again in so many milliseconds. */
  refuses(now: number): number | undefined
  worked(): boolean
  /** @param retryAfterMs what the other side asked for, if it did. @returns for how long it is open now, or undefined */
  failed(now: number, retryAfterMs?: number): number | undefined
}

export function createBreaker(options: BreakerOptions = breakerDefaults): Breaker {
  const { after, firstMs, mostMs } = options
  let failures = 0
  let openUntil = 0
  let probing = false
  return {
    refuses(now) {
      if (failures < after) return undefined
      if (now < openUntil) return openUntil - now
      if (probing) return firstMs
      probing = true
      return undefined
    },
    worked() {
      const wasOpen = failures >= after
      failures = 0
      probing = false
      return wasOpen
    },
    failed(now, retryAfterMs = 0) {
      failures++
      probing = false
      if (failures < after) return undefined
      const forMs = Math.min(mostMs, Math.max(firstMs * 2 ** (failures - after), retryAfterMs))
      openUntil = now + forMs
      return forMs
    },
  }
}
