// A circuit breaker: after several failures in a row it refuses all calls for a while, then admits one call as a probe.
// It reads no clock: the caller passes `now` of the monotonic clock.

import { type Backoff, retryIn } from './backoff.ts'

export interface BreakerOptions extends Backoff {
  /** Failures in a row that open the breaker. The time it stays open grows with each failed probe. */
  readonly after: number
}

export const breakerDefaults: BreakerOptions = { after: 5, firstMs: 1_000, mostMs: 60_000 }

/** 'go': the call may begin. 'probe': it may begin, as the probe. Otherwise it is refused. */
export type Admission = 'go' | 'probe' | { readonly retryAfterMs: number }

export interface Breaker {
  /** While open, all calls except the probe are refused. */
  readonly open: boolean
  admit(now: number): Admission
  /** Time until a call may be admitted; 0 means that one may begin now, possibly only as the probe. */
  restMs(now: number): number
  /** Records a successful call. While the breaker is open, only the probe counts. @returns whether the breaker closed */
  recordSuccess(probe: boolean): boolean
  /** Records a failed call. @param retryAfterMs from the answer. @returns how long the breaker is open, if it opened */
  recordFailure(probe: boolean, now: number, retryAfterMs?: number): number | undefined
  /** Opens at once, without further failures: the service asked for a pause, or will not work until a person acts. */
  pause(probe: boolean, now: number, retryAfterMs?: number): number | undefined
  /** Records a call whose outcome says nothing about the service. */
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
    // Full jitter can be 0: never open for less than firstMs.
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
