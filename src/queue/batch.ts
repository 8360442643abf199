// When a batch goes and what is in it (§4.1 rule 3). Pure: the clock comes in as `now`.

import { batchIdOf } from './parts.ts'
import type { Row } from './row.ts'

export interface BatchLimits {
  readonly max: number
  readonly bytes: number
  readonly spanMs: number
  readonly order: 'none' | 'lane' | 'user'
}

export interface Cut {
  /** How many rows of the line to look at; those at `left` (indexes, ascending) stay where they are. */
  readonly take: number
  readonly left: readonly number[]
  readonly bytes: number
  readonly full: boolean
}

/** Rows waiting in line: `at(0)` is the one that waits longest. */
export interface Line {
  readonly length: number
  readonly bytes: number
  at(index: number): Row
}

/** Users of an ordered lane with something in a call, or waiting to come again: theirs stay where they are. */
export type Busy = (user: string) => boolean

/** How many rows with an id that the batch has already are looked past for one more. */
const furthest = 1_000

/**
 * A batch goes when the message count is reached, or so many bytes, or when its first message has waited for the time
 * span. An activity.id is never in it twice: the answer could not tell them apart (§4.1 rule 4).
 *
 * @returns what to take, or how many milliseconds to wait (Infinity: until something comes)
 * @example cutBatch(line, { max: 500, bytes: 4_194_304, spanMs: 200, order: 'none' }, Date.now())
 */
export function cutBatch(
  line: Line,
  limits: BatchLimits,
  now: number,
  busy: Busy = () => false,
): Cut | { readonly waitMs: number } {
  if (line.length === 0) return { waitMs: Number.POSITIVE_INFINITY }
  // A clock of another machine may be ahead of ours: nothing waits longer than the span.
  const waitMs = Math.min(line.at(0).since + limits.spanMs - now, limits.spanMs)
  if (waitMs > 0 && line.length < limits.max && line.bytes < limits.bytes) return { waitMs }
  const cut = limits.order === 'user' ? fillByUser(line, limits, busy) : fill(line, limits)
  if (cut.take === cut.left.length) return { waitMs: Number.POSITIVE_INFINITY }
  return cut.full || waitMs <= 0 ? cut : { waitMs }
}

/** A user may be in a batch many times, in order, but never in two calls at once. */
function fillByUser(line: Line, { max, bytes: most }: BatchLimits, busy: Busy): Cut {
  const left: number[] = []
  let bytes = 0
  for (let i = 0; i < line.length; i++) {
    const row = line.at(i)
    if (busy(orderedBy(row))) {
      left.push(i)
      continue
    }
    const taken = i - left.length
    if (taken > 0 && bytes + row.bytes > most) return { take: i, left, bytes, full: true }
    bytes += row.bytes
    if (taken + 1 === max) return { take: i + 1, left, bytes, full: true }
  }
  return { take: line.length, left, bytes, full: bytes >= most }
}

function fill(line: Line, { max, bytes: most, order }: BatchLimits): Cut {
  if (max === 1) return { take: 1, left: [], bytes: line.at(0).bytes, full: true }
  const ids = new Set<string>()
  const left: number[] = []
  let bytes = 0
  for (let i = 0; i < line.length; i++) {
    const row = line.at(i)
    const id = idOf(row)
    if (ids.has(id)) {
      // In an ordered lane nobody overtakes: the batch ends here.
      if (order === 'lane' || left.length === furthest) return { take: i, left, bytes, full: true }
      left.push(i)
      continue
    }
    if (ids.size > 0 && bytes + row.bytes > most) return { take: i, left, bytes, full: true }
    ids.add(id)
    bytes += row.bytes
    if (ids.size === max) return { take: i + 1, left, bytes, full: true }
  }
  return { take: line.length, left, bytes, full: bytes >= most }
}

/** Whose a row is, in a lane that is ordered by user: the second part of its key. */
export const orderedBy = idOf

function idOf(row: Row): string {
  row.id ??= batchIdOf(row.key)
  return row.id
}
