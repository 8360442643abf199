// One sender spells all its records alike. What stands between the values of one is compared with the next as it is, which takes half
// the time of reading keys. Where it differs, nothing is lost: findMembers() reads that one.

import type { Spans } from './members.ts'
import { backslash, closeObject, quote, type Units } from './scan.ts'

export interface Layout {
  /** What stands before each value, one after another: `{"activity":{"id":` `,"brand_id":` … and, after the last, `}`. */
  readonly between: Units
  /** Where each of these ends in `between`. */
  readonly ends: readonly number[]
  /** Which name each value belongs to; -1: one that nobody asked for. */
  readonly names: readonly number[]
}

/**
 * @param start where comparing shall begin
 * @param seen triples of name, begin and end of each value, as findMembers() noted them, up to the object's end at `stop`
 * @returns undefined where a value is no plain string or digits: such a layout would rarely fit again
 */
export function learnLayout(units: Units, start: number, seen: readonly number[], stop: number): Layout | undefined {
  const pieces: number[] = []
  const ends: number[] = []
  const names: number[] = []
  let from = start
  for (let n = 0; n < seen.length; n += 3) {
    const [name, value, end] = seen.slice(n, n + 3) as [number, number, number]
    if (endOfPlain(units, value) !== end) return undefined
    pieces.push(...units.subarray(from, value))
    ends.push(pieces.length)
    names.push(name)
    from = end
  }
  pieces.push(...units.subarray(from, stop))
  ends.push(pieces.length)
  if (pieces.at(-1) !== closeObject || pieces.length > mostLength) return undefined
  return { between: units instanceof Uint16Array ? Uint16Array.from(pieces) : Buffer.from(pieces), ends, names }
}

const mostLength = 1_000

/** @returns the position after the object, its values in `spans`; -1 where this one is spelt otherwise */
export function followLayout(units: Units, start: number, layout: Layout, spans: Spans): number {
  const { between, ends, names } = layout
  for (let n = 0; n < spans.length; n++) spans[n] = -1
  let i = start
  let piece = 0
  for (let n = 0; n < ends.length; n++) {
    for (const end = ends[n] as number; piece < end; piece++, i++) if (units[i] !== between[piece]) return -1
    if (n === names.length) break
    const value = i
    i = endOfPlain(units, i)
    if (i === -1) return -1
    const name = names[n] as number
    if (name !== -1) {
      spans[2 * name] = value
      spans[2 * name + 1] = i
    }
  }
  return i
}

/** @returns the end of a string without escapes or of a row of digits; -1 where there is neither */
function endOfPlain(units: Units, at: number): number {
  let i = at
  let unit = units[i]
  if (unit === quote) {
    do {
      unit = units[++i]
      if (unit === backslash || unit === undefined) return -1
    } while (unit !== quote)
    return i + 1
  }
  while (unit !== undefined && unit >= 48 && unit <= 57) unit = units[++i]
  return i === at ? -1 : i
}
