/** Keeps a lane at its rate. The clock comes in as `now`. */
export interface Pace {
  /** Most items in one call, so that no second sees more than it may. */
  readonly most: number
  /** How long the next call must wait. */
  waitMs(now: number): number
  spend(items: number, now: number): void
}

/**
 * Spreads calls evenly: after a call with n items the next waits n / perSecond seconds. An idle lane saves nothing up.
 *
 * @example const pace = createPace(100); pace.spend(50, now); pace.waitMs(now) // 500
 */
export function createPace(perSecond: number | undefined): Pace {
  if (perSecond === undefined) return { most: Number.POSITIVE_INFINITY, waitMs: () => 0, spend: () => {} }
  let free = 0
  return {
    most: Math.max(1, Math.floor(perSecond)),
    waitMs: (now) => Math.max(0, free - now),
    spend: (items, now) => {
      free = Math.max(free, now) + (items * 1_000) / perSecond
    },
  }
}
