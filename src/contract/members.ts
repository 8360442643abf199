// Finds the source text of an object's members. It keeps exact digits, unlike JSON.parse, which turns 9007199254740993 into ...992.

import {
  backslash,
  closeObject,
  colon,
  comma,
  endOfValue,
  openObject,
  quote,
  skipSpace,
  space,
  trimEnd,
  type Units,
} from './scan.ts'
import type { Source } from './source.ts'

/** The names to find, indexed by length: no two may have the same length. */
export interface Names {
  readonly list: readonly string[]
  readonly byLength: readonly ({ readonly index: number; readonly units: Uint8Array } | undefined)[]
}

export function namesOf(...list: readonly string[]): Names {
  const byLength = new Array<Names['byLength'][number]>(32).fill(undefined)
  for (const [index, name] of list.entries()) {
    if (byLength[name.length]) throw new Error(`two names have ${name.length} characters: search for them separately`)
    byLength[name.length] = { index, units: Buffer.from(name, 'latin1') }
  }
  return { list, byLength }
}

/** The start and the end of each name's value, at 2n and 2n+1 for name n; -1 if it is missing. */
export type Spans = Int32Array

export function spansFor(names: Names): Spans {
  return new Int32Array(names.list.length * 2).fill(-1)
}

/**
 * Finds the values of `names` in the object that opens at `at`. As in JSON.parse, the last of several equal names wins, and names
 * may contain escapes.
 *
 * @param onRepeated called with the index of a name that occurs again
 * @returns the position after the object; -1 if it is not well-formed (`spans` then has the members before the error)
 */
export function findMembers(
  { text, units }: Source,
  at: number,
  names: Names,
  spans: Spans,
  onRepeated?: (name: number) => void,
): number {
  for (let n = 0; n < spans.length; n++) spans[n] = -1
  if (units[at] !== openObject) return -1
  let i = skipSpace(units, at + 1)
  if (units[i] === closeObject) return i + 1
  for (;;) {
    if (units[i] !== quote) return -1
    const key = ++i
    let unit = units[i]
    while (unit !== quote) {
      if (unit === backslash) i++
      unit = units[++i]
      if (unit === undefined) return -1
    }
    const name = nameAt(text, units, key, i, names)
    if (units[++i] !== colon) i = skipSpace(units, i)
    if (units[i] !== colon) return -1
    if ((units[++i] as number) <= space) i = skipSpace(units, i)
    const value = i
    i = endOfMember(units, value)
    const end = (units[i - 1] as number) <= space ? trimEnd(units, i) : i
    if (name !== -1) {
      if (spans[2 * name] !== -1) onRepeated?.(name)
      spans[2 * name] = value
      spans[2 * name + 1] = end
    }
    unit = units[i]
    if (unit === closeObject) return i + 1
    if (unit !== comma) return -1
    if ((units[++i] as number) <= space) i = skipSpace(units, i)
  }
}

/** endOfValue() with a fast path for numbers and short strings, which most members are. */
function endOfMember(units: Units, at: number): number {
  let i = at
  let unit = units[i]
  if (unit === quote) {
    unit = units[++i]
    while (unit !== quote && unit !== backslash && unit !== undefined) unit = units[++i]
    unit = units[++i]
  } else while (unit !== undefined && unit >= 48 && unit <= 57) unit = units[++i]
  if (unit === comma || unit === closeObject) return i
  const found = endOfValue(units, at)
  return found < 0 ? ~found : found
}

function nameAt(text: string, units: Units, start: number, end: number, names: Names): number {
  const name = names.byLength[end - start]
  if (name !== undefined) {
    const expected = name.units
    let j = 0
    while (j < expected.length && units[start + j] === expected[j]) j++
    if (j === expected.length) return name.index
  }
  for (let i = start; i < end; i++) {
    if (units[i] === backslash) return names.list.indexOf(unescapeName(text.slice(start - 1, end + 1)))
  }
  return -1
}

function unescapeName(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return ''
  }
}
