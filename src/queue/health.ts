// What a lane knows about its provider, from how calls ended: hold, release, split, pause. Pure: the clock comes in as `now`.

import { type Backoff, retryIn } from '../runtime/backoff.ts'

export interface Hold {
  readonly since: number
  /** When the next probe may go. */
  readonly until: number
  readonly probing: boolean
}

export interface Health {
  readonly hold: Hold | undefined
  /** A call ended with an answer that only a working provider gives. @returns how long the lane was held, if it was */
  worked(
    call: { readonly probe: boolean; readonly items: number; readonly batch: boolean },
    now: number,
  ): number | undefined
  /** The provider is to blame. @returns for how long the lane is held, which may be 0; undefined: it was held already */
  away(
    call: { readonly probe: boolean; readonly items: number },
    now: number,
    retryAfterMs?: number,
  ): number | undefined
  /** A probe said nothing about the provider: another one, later. */
  unclear(now: number): void
  probe(): void
  /** Has the provider worked of late? Only then is a call that it refuses guilty itself (design §6). */
  worksOtherwise(now: number): boolean
  /** A message alone was refused on its first attempt, and it may be its own fault. @returns how many in a row, with none that worked */
  doubt(): number
  /** Probes work, yet calls with many items do not, again and again: then it is no outage, and splitting is right. */
  relapsing(now: number): boolean
  /** A refusal of a kind that is rarely the message's fault, or another final outcome. @returns how many in a row */
  refused(refusal: boolean): number
}

/** So long ago is of late. */
const recentMs = 60_000
const relapsesUntilSplit = 3

export function createHealth(backoff: Backoff, random?: () => number): Health {
  let hold: Hold | undefined
  let attempt = 0
  let workedAt = Number.NEGATIVE_INFINITY
  let relapses = 0
  let refusals = 0
  let doubts = 0
  let released = false

  function renew(now: number, retryAfterMs?: number): number {
    const forMs = retryIn(++attempt, backoff, retryAfterMs, random)
    hold = { since: hold?.since ?? now, until: now + forMs, probing: false }
    return forMs
  }

  const worksOtherwise = (now: number): boolean => now - workedAt <= recentMs

  return {
    get hold() {
      return hold
    },
    worked({ probe, items, batch }, now) {
      // A call from before the hold proves nothing.
      if (hold && !probe) return undefined
      workedAt = now
      doubts = 0
      if (batch && items > 1) relapses = 0
      if (!hold) return undefined
      const heldMs = now - hold.since
      hold = undefined
      attempt = 0
      released = true
      return heldMs
    },
    away({ probe, items }, now, retryAfterMs) {
      if (hold) return probe ? renew(now, retryAfterMs) : undefined
      relapses = released && items > 1 ? relapses + 1 : 0
      released = false
      return renew(now, retryAfterMs)
    },
    unclear: (now) => void renew(now),
    probe() {
      if (hold) hold = { ...hold, probing: true }
    },
    worksOtherwise,
    doubt() {
      doubts++
      return doubts
    },
    relapsing: (now) => relapses >= relapsesUntilSplit && worksOtherwise(now),
    refused(refusal) {
      refusals = refusal ? refusals + 1 : 0
      return refusals
    },
  }
}
