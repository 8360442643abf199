// The removal brake: one wrong setting must not unlink a whole fleet of devices. If the removals of a credential
// within ten minutes exceed both a number and a share of its sends, no device is removed until a person confirms.

export interface RemovalLimits {
  /** Removals that are always allowed within the window. */
  readonly devices: number
  /** Further removals are allowed while all removals are at most this share of the credential's sends, 0 to 1. */
  readonly share: number
  readonly windowMs: number
}

export const removalLimits: RemovalLimits = { devices: 100, share: 0.1, windowMs: 600_000 }

export interface Tally {
  readonly sends: number
  readonly removals: number
}

/**
 * Whether implausibly many devices were removed.
 *
 * @example exceedsLimits({ removals: 101, sends: 1_010 }, removalLimits) // false: it is not more than 10 %
 * @example exceedsLimits({ removals: 101, sends: 1_009 }, removalLimits) // true
 */
export function exceedsLimits({ removals, sends }: Tally, { devices, share }: RemovalLimits): boolean {
  return removals > devices && removals > sends * share
}

/**
 * Sends and removals of one credential, for each of the last minutes, about ten. Of each user one removal counts.
 */
export interface Window {
  recordSend(now: number): void
  recordRemoval(device: string, user: string, now: number): void
  /** Whether the removal would count. False if it was counted before, or if another device of its user was. */
  wouldCount(device: string, user: string): boolean
  /** The sum of the minutes that began at `since` or later. */
  sumSince(since: number): Tally
  /** Keyed by the start of the minute. */
  readonly minutes: ReadonlyMap<number, Tally>
  /** Drops the minutes that began earlier than `before`. */
  dropBefore(before: number): void
}

export const minuteMs = 60_000

export function createWindow(): Window {
  const minutes = new Map<number, { sends: number; removals: number }>()
  const removed = new Map<string, number>()
  const users = new Map<string, number>()
  const minuteOf = (now: number): { sends: number; removals: number } => {
    const minute = now - (now % minuteMs)
    const found = minutes.get(minute) ?? { sends: 0, removals: 0 }
    minutes.set(minute, found)
    return found
  }
  const wouldCount = (device: string, user: string): boolean => !removed.has(device) && !users.has(user)
  return {
    minutes,
    recordSend: (now) => void minuteOf(now).sends++,
    recordRemoval(device, user, now) {
      if (!wouldCount(device, user)) return
      removed.set(device, now)
      users.set(user, now)
      minuteOf(now).removals++
    },
    wouldCount,
    sumSince: (since) => sum([...minutes].filter(([minute]) => minute >= since).map(([, tally]) => tally)),
    dropBefore(before) {
      for (const minute of minutes.keys()) if (minute < before) minutes.delete(minute)
      for (const [device, removedAt] of removed) if (removedAt < before) removed.delete(device)
      for (const [user, removedAt] of users) if (removedAt < before) users.delete(user)
    },
  }
}

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (all, { sends, removals }) => ({ sends: all.sends + sends, removals: all.removals + removals }),
    { sends: 0, removals: 0 },
  )
}
