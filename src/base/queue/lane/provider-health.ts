// The state of a lane's provider, derived from the ends of calls: hold, unclear fatals, refusals. Pure: clock.steady() is passed in as `now`.

import { type Backoff, longestRetryAfterMs, retryIn } from '../../runtime/backoff.ts'

export interface Hold {
  readonly since: number
  /** The earliest time of the next probe. */
  readonly until: number
  readonly probing: boolean
}

export interface ProviderHealth {
  readonly hold: Hold | undefined
  /** How many calls delivered a message. */
  readonly deliveringCalls: number
  /** A probe ended the hold, and no batch succeeded since. A batch that fails now is too large or contains a guilty message. */
  readonly recovering: boolean
  /** Records an answer that only a working provider gives. @returns how long the lane was held, if this answer ends the hold */
  recordAnswer(
    call: { readonly probe: boolean; readonly batch: boolean; readonly delivered: boolean },
    now: number,
  ): number | undefined
  /**
   * Records a failure that the provider is to blame for. The longest Retry-After of all answers applies.
   *
   * @param call `unconnected`: there was no connection, so the backoff is short
   * @returns for how long the lane is held, which may be 0; undefined: an earlier hold already lasts that long
   */
  recordOutage(
    call: { readonly probe: boolean; readonly unconnected?: boolean },
    now: number,
    retryAfterMs?: number,
  ): number | undefined
  /** Begins with a pause that the provider asked an earlier owner of the lane for. */
  continuePause(forMs: number, now: number): void
  startProbe(): void
  /** Ends the wait before the next probe. */
  probeNow(now: number): void
  workedRecently(now: number): boolean
  /** How many messages in a row were fatal alone for an unclear reason since the last answer of a working provider. */
  readonly unclearFatals: number
  recordUnclearFatal(): void
  /** Records whether a final outcome was a refusal that is rarely the message's fault. @returns how many refusals in a row */
  recordFinal(isRefusal: boolean): number
}

/** The provider worked "recently" if it answered within this time. */
const recentMs = 60_000
/** The longest backoff without a connection. */
const mostUnconnectedMs = 30_000

export function createProviderHealth(backoff: Backoff, random?: () => number): ProviderHealth {
  let hold: Hold | undefined
  let attempt = 0
  let retryAfterEnds = Number.NEGATIVE_INFINITY
  let workedAt = Number.NEGATIVE_INFINITY
  let deliveringCalls = 0
  let recovering = false
  let refusals = 0
  let unclearFatals = 0

  return {
    get hold() {
      return hold
    },
    get deliveringCalls() {
      return deliveringCalls
    },
    get recovering() {
      return recovering
    },
    get unclearFatals() {
      return unclearFatals
    },
    recordAnswer({ probe, batch, delivered }, now) {
      // A call that started before the hold proves nothing.
      if (hold && !probe) return undefined
      workedAt = now
      if (delivered) deliveringCalls++
      unclearFatals = 0
      if (batch) {
        recovering = false
        attempt = 0
      }
      if (!hold) return undefined
      if (now < retryAfterEnds) {
        hold = { ...hold, until: retryAfterEnds, probing: false }
        return undefined
      }
      const heldMs = now - hold.since
      hold = undefined
      recovering = true
      return heldMs
    },
    recordOutage({ probe, unconnected }, now, retryAfterMs = 0) {
      retryAfterEnds = Math.max(retryAfterEnds, now + Math.min(retryAfterMs, longestRetryAfterMs))
      if (hold && !probe) {
        if (hold.until >= retryAfterEnds) return undefined
        hold = { ...hold, until: retryAfterEnds }
        return retryAfterEnds - now
      }
      const jitteredMs = retryIn(++attempt, backoff, 0, random)
      const forMs = Math.max(unconnected ? Math.min(jitteredMs, mostUnconnectedMs) : jitteredMs, retryAfterEnds - now)
      hold = { since: hold?.since ?? now, until: now + forMs, probing: false }
      return forMs
    },
    continuePause(forMs, now) {
      retryAfterEnds = now + Math.min(forMs, longestRetryAfterMs)
      hold = { since: now, until: retryAfterEnds, probing: false }
    },
    startProbe() {
      if (hold) hold = { ...hold, probing: true }
    },
    probeNow(now) {
      retryAfterEnds = now
      if (hold) hold = { ...hold, until: now }
    },
    workedRecently: (now) => now - workedAt <= recentMs,
    recordUnclearFatal: () => void unclearFatals++,
    recordFinal(isRefusal) {
      refusals = isRefusal ? refusals + 1 : 0
      return refusals
    },
  }
}
