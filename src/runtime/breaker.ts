// When the other side is away, asking it again and again helps nobody: after a few failures in a row nothing is sent for a
// while, then one call tries. Pure but for its own state: the clock comes in as `now`, epoch milliseconds.

import { type Backoff, retryIn } from './backoff.ts'

export interface BreakerOptions extends Backoff {
  /** So many failures in a row open it; how long, goes by the number of probes that failed. */
  readonly after: number
}

export const breakerDefaults: BreakerOptions = { after: 5, firstMs: 1_000, mostMs: 60_000 }

/** A call may begin; or it may, as the one that probes; or not now. */
export type Admission = 'go' | 'probe' | { readonly retryAfterMs: number }

export interface Breaker {
  /** Calls are refused, but for the one that probes. */
  readonly open: boolean
  admit(now: number): Admission
  /** How long nothing will be admitted; 0: something may be, perhaps only as a probe. */
  restMs(now: number): number
  /** How an admitted call ended. Of the calls that end while it is open, only the probe's end counts. @returns whether it closed */
  recordSuccess(probe: boolean): boolean
  /** @param retryAfterMs what the other side asked for. @returns for how long it opened, if it did */
  recordFailure(probe: boolean, now: number, retryAfterMs?: number): number | undefined
  /** Likewise, and the other side said that it wants a pause, or that nothing will be right before a person acts: one is enough. */
  pause(probe: boolean, now: number, retryAfterMs?: number): number | undefined
  /** An admitted call came to nothing that says how the other side is. */
  recordUnknown(probe: boolean): void
}

/**
 * @example
 * const breaker = createBreaker({ after: 5, firstMs: 1_000, mostMs: 60_000 })
 * const admission = breaker.admit(Date.now()) // 'go'
 */
export function createBreaker(options: BreakerOptions = breakerDefaults, random?: () => number): Breaker {
  let failures = 0
  let openings = 0
  let openUntil: number | undefined
  let probing = false

  function open(now: number, retryAfterMs?: number): number {
    // Jitter could make it nothing at all.
    const forMs = Math.max(options.firstMs, retryIn(++openings, options, retryAfterMs, random))
    openUntil = now + forMs
    return forMs
  }

  return {
    get open() {
      return openUntil !== undefined
    },
    admit(now) {
      if (openUntil === undefined) return 'go'
      if (probing) return { retryAfterMs: options.firstMs }
      if (now < openUntil) return { retryAfterMs: openUntil - now }
      probing = true
      return 'probe'
    },
    restMs(now) {
      if (openUntil === undefined) return 0
      return probing ? options.firstMs : Math.max(0, openUntil - now)
    },
    recordSuccess(probe) {
      const wasOpen = openUntil !== undefined
      if (wasOpen && !probe) return false
      failures = 0
      openings = 0
      probing = false
      openUntil = undefined
      return wasOpen
    },
    recordFailure(probe, now, retryAfterMs) {
      if (probe) {
        probing = false
        return open(now, retryAfterMs)
      }
      if (openUntil !== undefined || ++failures < options.after) return undefined
      return open(now, retryAfterMs)
    },
    pause(probe, now, retryAfterMs) {
      if (!probe && openUntil !== undefined) return undefined
      if (probe) probing = false
      return open(now, retryAfterMs)
    },
    recordUnknown(probe) {
      if (probe) probing = false
    },
  }
}
