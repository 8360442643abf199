// Cuts a batch (§2.1: an array of records like that of a single request) into the source text of its elements. Each element is
// stored and forwarded unchanged, with exact ids, and an invalid element does not affect the others.

import { closeArray, closeObject, comma, endOfValue, openArray, skipSpace, trimEnd } from './scan.ts'
import type { Source } from './source.ts'

export interface Cut {
  /** Element n is text.slice(starts[n], ends[n]), without surrounding white space. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** The elements that are nested deeper than mostLevels. */
  readonly deep: ReadonlySet<number>
  /** The reason why the text cannot be cut, if it cannot. */
  readonly error: string | undefined
}

/**
 * Cuts any text, valid JSON or not. It follows only strings and brackets, so that an invalid element does not affect the others.
 *
 * @param most cutting ends with one element more: a body of commas would need fifty times its size in memory
 * @example
 * const { starts, ends } = cutElements(sourceOf('[1, {"a":"]"}]')) // '1' and '{"a":"]"}'
 */
export function cutElements({ units }: Source, most = Number.POSITIVE_INFINITY): Cut {
  const starts: number[] = []
  const ends: number[] = []
  const deep = new Set<number>()
  const cut = (error?: string): Cut => ({ starts, ends, deep, error })

  let at = skipSpace(units, 0)
  if (at === units.length) return cut('the body is empty: send a JSON array of activity request records')
  if (units[at] !== openArray)
    return cut('the body must be a JSON array of activity request records: send a single record to …/single')
  at = skipSpace(units, at + 1)
  let stop = at
  if (units[at] !== closeArray) {
    for (;;) {
      const found = endOfValue(units, at)
      stop = found < 0 ? ~found : found
      if (stop === units.length)
        return cut(`the body is truncated: element ${starts.length} or the array itself does not end`)
      if (found < 0) deep.add(starts.length)
      starts.push(at)
      ends.push(Math.max(at, trimEnd(units, stop)))
      if (starts.length > most) return cut()
      if (units[stop] !== comma) break
      at = skipSpace(units, stop + 1)
    }
  }
  if (units[stop] === closeObject) return cut(`the body is not JSON: unmatched } at character ${stop}`)
  const rest = skipSpace(units, stop + 1)
  if (rest < units.length) return cut(`the body must end after the JSON array: unexpected text at character ${rest}`)
  return cut()
}
