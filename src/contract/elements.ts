// Cuts a batch (§2.1: an array, each element shaped like a single request) into the source text of its elements.
// Each is stored and sent on as it came: bytes kept, ids exact, and a bad element is bad alone.

import { closeArray, closeObject, comma, endOfValue, openArray, skipSpace, trimEnd } from './scan.ts'
import type { Source } from './source.ts'

export interface Cut {
  /** Element n is text.slice(starts[n], ends[n]), without the white space around it. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** Elements nested deeper than mostLevels. */
  readonly deep: ReadonlySet<number>
  /** Why the text as a whole cannot be cut. */
  readonly error: string | undefined
}

/**
 * Cuts any text, valid JSON or not: only strings and brackets are followed, so that an element that is no JSON spoils nothing else.
 *
 * @example
 * const { starts, ends } = cutElements(sourceOf('[1, {"a":"]"}]')) // '1' and '{"a":"]"}'
 */
export function cutElements({ units }: Source): Cut {
  const starts: number[] = []
  const ends: number[] = []
  const deep = new Set<number>()
  const cut = (error?: string): Cut => ({ starts, ends, deep, error })

  let at = skipSpace(units, 0)
  if (at === units.length) return cut('the body is empty: send a JSON array of activity request records')
  if (units[at] !== openArray) return cut('the body must be a JSON array of activity request records')
  at = skipSpace(units, at + 1)
  let stop = at
  if (units[at] !== closeArray) {
    for (;;) {
      const found = endOfValue(units, at)
      stop = found < 0 ? ~found : found
      if (stop === units.length)
        return cut(`the body is cut short: element ${starts.length} or the array itself never ends`)
      if (found < 0) deep.add(starts.length)
      starts.push(at)
      ends.push(Math.max(at, trimEnd(units, stop)))
      if (units[stop] !== comma) break
      at = skipSpace(units, stop + 1)
    }
  }
  if (units[stop] === closeObject) return cut(`the body is not JSON: the } at character ${stop} closes nothing`)
  const rest = skipSpace(units, stop + 1)
  if (rest < units.length) return cut(`the body is not one JSON array: something follows it at character ${rest}`)
  return cut()
}
