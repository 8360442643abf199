/** Limits a lane to its rate. The clock is passed in as `now`. */
export interface RateLimit {
  /** The most items in one call, so that no second exceeds the rate. */
  readonly maxItems: number
  /** How long the next call must wait. */
  waitMs(now: number): number
  recordCall(items: number, now: number): void
}

/**
 * Spreads calls evenly: after a call with n items the next call waits n / perSecond seconds. An idle lane accumulates no credit.
 *
 * @example const rate = createRateLimit(100); rate.recordCall(50, now); rate.waitMs(now) // 500
 */
export function createRateLimit(perSecond: number | undefined): RateLimit {
  if (perSecond === undefined) return { maxItems: Number.POSITIVE_INFINITY, waitMs: () => 0, recordCall: () => {} }
  let nextCallAt = 0
  return {
    maxItems: Math.max(1, Math.floor(perSecond)),
    waitMs: (now) => Math.max(0, nextCallAt - now),
    recordCall: (items, now) => {
      nextCallAt = Math.max(nextCallAt, now) + (items * 1_000) / perSecond
    },
  }
}
