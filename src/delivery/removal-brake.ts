// The brake on removals (design §5): one wrong setting must not cost a fleet of devices. More than so many removals that are more
// than such a share of a credential's sends, within ten minutes: no device is removed until a person confirms.

export interface RemovalLimits {
  /** So many may always be removed within the window. */
  readonly devices: number
  /** What comes on top may be no larger a share of the credential's sends, 0 to 1. */
  readonly share: number
  readonly windowMs: number
}

export const removalLimits: RemovalLimits = { devices: 100, share: 0.1, windowMs: 600_000 }

export interface Tally {
  readonly sends: number
  readonly removals: number
}

/**
 * Are these removals more than one believes?
 *
 * @example tooMany({ removals: 101, sends: 1_010 }, removalLimits) // false: it is not more than 10 %
 * @example tooMany({ removals: 101, sends: 1_009 }, removalLimits) // true
 */
export function tooMany({ removals, sends }: Tally, { devices, share }: RemovalLimits): boolean {
  return removals > devices && removals > sends * share
}

/** Removals of one user's devices that count. A user who links made-up tokens must not stop the removals of all users. */
const mostPerUser = 3

/** Sends and removed devices of one credential by the minute, the last ten or so of them. A device counts once. */
export interface Window {
  sent(now: number): void
  removed(device: string, user: string, now: number): void
  /** Would removing it count? Not if it was counted, or enough of its user's devices were. */
  counts(device: string, user: string): boolean
  /** Of the minutes that began at `since` or later. */
  tally(since: number): Tally
  /** By the start of each minute. */
  readonly minutes: ReadonlyMap<number, Tally>
  /** Forgets the minutes that began before. */
  forget(before: number): void
}

export const minuteMs = 60_000

export function createWindow(): Window {
  const minutes = new Map<number, { sends: number; removals: number }>()
  const removed = new Map<string, number>()
  const users = new Map<string, { removals: number; last: number }>()
  const at = (now: number): { sends: number; removals: number } => {
    const minute = now - (now % minuteMs)
    const found = minutes.get(minute) ?? { sends: 0, removals: 0 }
    minutes.set(minute, found)
    return found
  }
  const counts = (device: string, user: string): boolean =>
    !removed.has(device) && (users.get(user)?.removals ?? 0) < mostPerUser
  return {
    minutes,
    sent: (now) => void at(now).sends++,
    removed(device, user, now) {
      if (!counts(device, user)) return
      removed.set(device, now)
      users.set(user, { removals: (users.get(user)?.removals ?? 0) + 1, last: now })
      at(now).removals++
    },
    counts,
    tally: (since) => sum([...minutes].filter(([minute]) => minute >= since).map(([, tally]) => tally)),
    forget(before) {
      for (const minute of minutes.keys()) if (minute < before) minutes.delete(minute)
      for (const [device, when] of removed) if (when < before) removed.delete(device)
      for (const [user, { last }] of users) if (last < before) users.delete(user)
    },
  }
}

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (all, { sends, removals }) => ({ sends: all.sends + sends, removals: all.removals + removals }),
    { sends: 0, removals: 0 },
  )
}
