// The unsuccessful attempts of the items in memory, until they are written with a settle or a postponement.

import type { Fatal } from '../../../contract/outcome.ts'
import { shortened } from '../../../contract/storable.ts'
import { attemptsKept } from './attempts.ts'
import type { BufferedItem } from './buffered-item.ts'

export interface AttemptBuffer {
  /** Whether no more attempts fit: items that wait for a retry should leave the memory. */
  readonly full: boolean
  /** Adds the attempt that just ended. */
  add(item: BufferedItem, outcome: Fatal, now: number): void
  /** The attempts of these items are being written. */
  release(items: readonly { readonly item: BufferedItem }[]): void
}

/** The most attempts in memory, with texts of up to 600 characters each. */
const maxBuffered = 20_000

export function createAttemptBuffer(): AttemptBuffer {
  let buffered = 0
  return {
    get full() {
      return buffered >= maxBuffered
    },
    add(item, { status, reason, rule, error, answer, call }, now) {
      item.earlierAttempts ??= []
      const { earlierAttempts: attempts } = item
      const full = attempts.length > 0 && buffered >= maxBuffered
      // Beyond the limits the last attempt replaces one before it.
      if (full) attempts.pop()
      else if (attempts.length === 2 * attemptsKept) attempts.splice(attemptsKept, 1)
      else buffered++
      attempts.push({
        attempt: item.attempt,
        at: now,
        outcome: 'fatal',
        status,
        reason,
        rule,
        error: shortened(error, 300),
        ...(answer !== undefined && { answer: shortened(answer, 300) }),
        call,
      })
    },
    release(items) {
      for (const { item } of items) buffered -= item.earlierAttempts?.length ?? 0
    },
  }
}
