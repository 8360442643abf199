// Messages that the operator in production answered as fatal, while Bellwire gave a final answer. After an outage the platform repeats
// these messages, and the operator gives a final answer. A message that stays fatal while others are answered is a difference.

import { forgetOldest } from './identities.ts'

export interface Unsettled<Of> {
  add(key: string, of: Of): void
  /** The message has its final answer. */
  settle(key: string): void
  list(): readonly { readonly of: Of; readonly attempts: number; readonly stuck: boolean }[]
}

const mostKept = 10_000

export function createUnsettled<Of>(): Unsettled<Of> {
  const waiting = new Map<string, { of: Of; attempts: number; settledAtFirst: number }>()
  let settled = 0
  return {
    add(key, of) {
      const { attempts, settledAtFirst } = waiting.get(key) ?? { attempts: 0, settledAtFirst: settled }
      waiting.set(key, { of, attempts: attempts + 1, settledAtFirst })
      forgetOldest(waiting, mostKept)
    },
    settle(key) {
      settled++
      waiting.delete(key)
    },
    list: () =>
      [...waiting.values()].map(({ of, attempts, settledAtFirst }) => ({
        of,
        attempts,
        stuck: attempts > 1 && settled > settledAtFirst,
      })),
  }
}
