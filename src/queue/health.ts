// The state of a lane's provider, derived from the ends of calls: hold, release, doubt, pause. Pure: the clock comes in as `now`.

import { type Backoff, longestRetryAfterMs, retryIn } from '../runtime/backoff.ts'

export interface Hold {
  readonly since: number
  /** When the next probe may go. */
  readonly until: number
  readonly probing: boolean
}

export interface Health {
  readonly hold: Hold | undefined
  /** How many calls delivered a message. */
  readonly wins: number
  /** The hold ended by a probe, and no batch got through since: a batch that does not is too large, or has poison in it. */
  readonly onTrial: boolean
  /** A call ended with an answer that only a working provider gives. @returns how long the lane was held, if it is no more */
  worked(
    call: { readonly probe: boolean; readonly batch: boolean; readonly delivered: boolean },
    now: number,
  ): number | undefined
  /**
   * The provider is to blame. The longest Retry-After of any answer wins.
   *
   * @returns for how long the lane is held, which may be 0; undefined: it was held already, and for as long
   */
  away(call: { readonly probe: boolean }, now: number, retryAfterMs?: number): number | undefined
  probe(): void
  /** Has the provider worked of late? */
  worksOtherwise(now: number): boolean
  /** How many messages were fatal alone since one got through, for a reason that is not clear. */
  readonly doubts: number
  doubt(): void
  /** A refusal of a kind that is rarely the message's fault, or another final outcome. @returns how many in a row */
  refused(refusal: boolean): number
}

/** The provider worked "recently" if it answered within this time. */
const recentMs = 60_000

export function createHealth(backoff: Backoff, random?: () => number): Health {
  let hold: Hold | undefined
  let attempt = 0
  let askedUntil = Number.NEGATIVE_INFINITY
  let workedAt = Number.NEGATIVE_INFINITY
  let wins = 0
  let onTrial = false
  let refusals = 0
  let doubts = 0

  return {
    get hold() {
      return hold
    },
    get wins() {
      return wins
    },
    get onTrial() {
      return onTrial
    },
    get doubts() {
      return doubts
    },
    worked({ probe, batch, delivered }, now) {
      // A call from before the hold proves nothing.
      if (hold && !probe) return undefined
      workedAt = now
      if (delivered) wins++
      doubts = 0
      if (batch) {
        onTrial = false
        attempt = 0
      }
      if (!hold) return undefined
      if (now < askedUntil) {
        hold = { ...hold, until: askedUntil, probing: false }
        return undefined
      }
      const heldMs = now - hold.since
      hold = undefined
      onTrial = true
      return heldMs
    },
    away({ probe }, now, retryAfterMs = 0) {
      askedUntil = Math.max(askedUntil, now + Math.min(retryAfterMs, longestRetryAfterMs))
      if (hold && !probe) {
        if (hold.until >= askedUntil) return undefined
        hold = { ...hold, until: askedUntil }
        return askedUntil - now
      }
      const forMs = Math.max(retryIn(++attempt, backoff, 0, random), askedUntil - now)
      hold = { since: hold?.since ?? now, until: now + forMs, probing: false }
      return forMs
    },
    probe() {
      if (hold) hold = { ...hold, probing: true }
    },
    worksOtherwise: (now) => now - workedAt <= recentMs,
    doubt: () => void doubts++,
    refused(refusal) {
      refusals = refusal ? refusals + 1 : 0
      return refusals
    },
  }
}
