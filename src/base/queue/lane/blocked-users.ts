// The users of an ordered lane whose items must wait: users with items in a running call or with a pending retry.

import type { BufferedItem } from './buffered-item.ts'
import { orderingUser } from './cut-batch.ts'

export interface BlockedUsers {
  startCall(items: readonly BufferedItem[]): void
  endCall(items: readonly BufferedItem[]): void
  /** Blocks the user's items until this time. */
  blockUntil(user: string, until: number): void
  /** @returns whether a user is blocked now, as a function */
  blockedAt(now: number): (user: string) => boolean
  /** How long until the first user's backoff ends. Infinity: no user has a backoff. */
  waitMs(now: number): number
}

export function createBlockedUsers(): BlockedUsers {
  const itemsInCalls = new Map<string, number>()
  const backoffEnds = new Map<string, number>()

  function dropEndedBackoffs(now: number): void {
    for (const [user, until] of backoffEnds) if (until <= now) backoffEnds.delete(user)
  }

  return {
    startCall(items) {
      for (const item of items) {
        const user = orderingUser(item)
        itemsInCalls.set(user, (itemsInCalls.get(user) ?? 0) + 1)
      }
    },
    endCall(items) {
      for (const item of items) {
        const user = orderingUser(item)
        const remaining = (itemsInCalls.get(user) ?? 0) - 1
        if (remaining > 0) itemsInCalls.set(user, remaining)
        else itemsInCalls.delete(user)
      }
    },
    blockUntil: (user, until) => void backoffEnds.set(user, until),
    blockedAt(now) {
      dropEndedBackoffs(now)
      return (user) => itemsInCalls.has(user) || backoffEnds.has(user)
    },
    waitMs(now) {
      dropEndedBackoffs(now)
      return Math.min(...backoffEnds.values()) - now
    },
  }
}
