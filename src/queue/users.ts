// Which users of a lane that is ordered by user must wait: with something in a call, or with something that comes again later.

import { orderedBy } from './batch.ts'
import type { Row } from './row.ts'

export interface Users {
  /** These rows leave in a call, and come back from it. */
  leave(rows: readonly Row[]): void
  back(rows: readonly Row[]): void
  /** Nothing of this user before then. */
  rest(user: string, until: number): void
  /** Tells who must wait now. */
  busy(now: number): (user: string) => boolean
  /** How long until somebody's rest is over; Infinity: nobody rests. */
  restMs(now: number): number
}

export function createUsers(): Users {
  const away = new Map<string, number>()
  const resting = new Map<string, number>()

  function wake(now: number): void {
    for (const [user, until] of resting) if (until <= now) resting.delete(user)
  }

  return {
    leave(rows) {
      for (const row of rows) away.set(orderedBy(row), (away.get(orderedBy(row)) ?? 0) + 1)
    },
    back(rows) {
      for (const row of rows) {
        const left = (away.get(orderedBy(row)) ?? 0) - 1
        if (left > 0) away.set(orderedBy(row), left)
        else away.delete(orderedBy(row))
      }
    },
    rest: (user, until) => void resting.set(user, until),
    busy(now) {
      wake(now)
      return (user) => away.has(user) || resting.has(user)
    },
    restMs(now) {
      wake(now)
      return Math.min(...resting.values()) - now
    },
  }
}
