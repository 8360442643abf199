// The source text of an object's members: JSON.parse turns 9007199254740993 into ...992 and 1.0 into 1; the source does not.

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

/** Names to look for, found by their length: no two may be equally long. */
export interface Names {
  readonly list: readonly string[]
  readonly byLength: readonly ({ readonly index: number; readonly units: Uint8Array } | undefined)[]
}

export function namesOf(...list: readonly string[]): Names {
  const byLength = new Array<Names['byLength'][number]>(32).fill(undefined)
  for (const [index, name] of list.entries()) {
    if (byLength[name.length]) throw new Error(`two names of ${name.length} characters: look for them apart`)
    byLength[name.length] = { index, units: Buffer.from(name, 'latin1') }
  }
  return { list, byLength }
}

/** Where each name's value begins and ends: 2n and 2n+1 for name n; -1 where it is missing. */
export type Spans = Int32Array

export function spansFor(names: Names): Spans {
  return new Int32Array(names.list.length * 2).fill(-1)
}

/**
 * Finds the values of `names` in the object that opens at `at`. As in JSON.parse, the last of several equal names wins and names may
 * be written with escapes.
 *
 * @returns the position after the object; -1 where it is no well-formed object (`spans` has what was found before that)
 */
export function findMembers({ text, units }: Source, at: number, names: Names, spans: Spans): number {
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
      spans[2 * name] = value
      spans[2 * name + 1] = end
    }
    unit = units[i]
    if (unit === closeObject) return i + 1
    if (unit !== comma) return -1
    if ((units[++i] as number) <= space) i = skipSpace(units, i)
  }
}

/** endOfValue(), quicker for what most members are: numbers and short strings. */
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
    const wanted = name.units
    let j = 0
    while (j < wanted.length && units[start + j] === wanted[j]) j++
    if (j === wanted.length) return name.index
  }
  for (let i = start; i < end; i++) {
    if (units[i] === backslash) return names.list.indexOf(unescaped(text.slice(start - 1, end + 1)))
  }
  return -1
}

function unescaped(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return ''
  }
}
