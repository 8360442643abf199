/** The rate of sends to a service. Pure: the monotonic clock is passed in as `now`. */
export interface SendRate {
  /** How long until a send may start. @param ahead the sends that wait before it */
  waitMs(now: number, ahead?: number): number
  /** Records a send that starts now. */
  recordSend(now: number): void
  /**
   * Halves the rate: the service refused a send for its quota. Refusals of sends that started before the last halving do not count.
   *
   * @param sentAt when the refused send started
   * @param restMs how long no send starts at all; the rate recovers after it
   * @returns the new rate per second, or undefined if it stays as it was
   */
  slowDown(sentAt: number, now: number, restMs?: number): number | undefined
}

interface Slowdown {
  readonly at: number
  readonly perSecond: number
  /** The rate at which the service first refused. It is reached again after `recoveryMs`. */
  readonly former: number
  readonly recoversFrom: number
}

/** The sends that may start at once, as a time: a tenth of a second's worth. */
const burstMs = 100
const recoveryMs = 5 * 60_000
/** The rate is never lowered below this. */
const leastPerSecond = 10

/**
 * Sends are spread evenly, with bursts of a tenth of a second's worth. After a refusal for the quota the rate is half of what it was,
 * and grows evenly for five minutes to the former rate; then the limit is `perSecond` again.
 *
 * @param perSecond undefined: no limit until the service refuses; then half of the rate of that moment
 * @example
 * const rate = createSendRate(500)
 * if (rate.waitMs(Date.now()) === 0) rate.recordSend(Date.now())
 */
export function createSendRate(perSecond?: number): SendRate {
  const count = createCount()
  let slowdown: Slowdown | undefined
  /** If every send had waited for its turn, the next one would start then. */
  let nextAt = Number.NEGATIVE_INFINITY

  function limitAt(now: number): number | undefined {
    if (!slowdown) return perSecond
    const { perSecond: lowered, former, recoversFrom } = slowdown
    const recovered = Math.max(0, now - recoversFrom) / recoveryMs
    if (recovered < 1) return lowered + (former - lowered) * recovered
    slowdown = undefined
    return perSecond
  }

  return {
    waitMs(now, ahead = 0) {
      const limit = limitAt(now)
      if (limit === undefined) return 0
      return Math.max(0, Math.max(nextAt, now) + (ahead * 1_000) / limit - burstMs - now)
    },
    recordSend(now) {
      count.add(now)
      const limit = limitAt(now)
      if (limit !== undefined) nextAt = Math.max(nextAt, now) + 1_000 / limit
    },
    slowDown(sentAt, now, restMs = 0) {
      if (slowdown && sentAt <= slowdown.at) return undefined
      const observed = Math.max(count.perSecond(now), leastPerSecond)
      const limit = limitAt(now)
      const current = slowdown ? (limit as number) : Math.min(limit ?? observed, observed)
      const lowered = Math.max(Math.min(leastPerSecond, current), current / 2)
      slowdown = { at: now, perSecond: lowered, former: slowdown?.former ?? current, recoversFrom: now + restMs }
      return lowered
    },
  }
}

/** Counts sends by second. */
function createCount() {
  let second = 0
  let sends = 0
  let before = 0
  function advance(now: number): void {
    const current = Math.floor(now / 1_000)
    if (current === second) return
    before = current === second + 1 ? sends : 0
    second = current
    sends = 0
  }
  return {
    add(now: number): void {
      advance(now)
      sends++
    },
    /** The sends of the last whole second, or of the current one if they are more. */
    perSecond(now: number): number {
      advance(now)
      return Math.max(before, sends)
    },
  }
}
