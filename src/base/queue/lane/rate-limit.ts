/** Limits a lane to its rate. Pure: clock.steady() is passed in as `now`. */
export interface RateLimit {
  /** The most items of a call that starts now. */
  room(now: number): number
  /** How long a call with this many items must wait. */
  waitMs(now: number, items?: number): number
  recordCall(items: number, now: number): void
}

const secondMs = 1_000
/** A timer may be this late without loss of rate. */
const lateMs = 50

/**
 * No second has more than `perSecond` items, whatever the sizes of the calls. Calls are also spread evenly: after a call with n
 * items the next call waits n / perSecond seconds. An idle lane accumulates no credit, except for late timers (50 ms).
 *
 * @param startedAt when this process became the owner of the lane. The earlier owner may have used up the rate of that second, so
 *   the first call waits a second
 * @example const rate = createRateLimit(100, now - 1_000); rate.recordCall(50, now); rate.waitMs(now) // 450
 */
export function createRateLimit(perSecond: number | undefined, startedAt: number): RateLimit {
  if (perSecond === undefined)
    return { room: () => Number.POSITIVE_INFINITY, waitMs: () => 0, recordCall: () => undefined }
  const most = Math.max(1, Math.floor(perSecond))
  let nextCallAt = 0
  /** The calls of the last second, the oldest first, with one entry for each millisecond. */
  const recent = [{ at: startedAt, items: most }]
  let recentItems = most

  function dropOld(now: number): void {
    while (recent[0] && now - recent[0].at >= secondMs) recentItems -= recent.shift()?.items ?? 0
  }

  function waitForRoom(now: number, items: number): number {
    let excess = recentItems + Math.min(items, most) - most
    for (const call of recent) {
      if (excess <= 0) break
      excess -= call.items
      if (excess <= 0) return call.at + secondMs - now
    }
    return 0
  }

  return {
    room(now) {
      dropOld(now)
      return most - recentItems
    },
    waitMs(now, items = 1) {
      dropOld(now)
      return Math.max(0, nextCallAt - now, waitForRoom(now, items))
    },
    recordCall(items, now) {
      dropOld(now)
      nextCallAt = Math.max(nextCallAt, now - lateMs) + (items * secondMs) / perSecond
      recentItems += items
      const last = recent.at(-1)
      if (last?.at === now) last.items += items
      else recent.push({ at: now, items })
    },
  }
}
