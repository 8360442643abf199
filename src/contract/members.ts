// The members of an object as source text. Unlike JSON.parse, which turns 9007199254740993 into ...992, it keeps all digits, and
// unlike the `context.source` of its reviver it also has the text of objects, and names that occur twice.

import { backslash, comma, endOfValue, openObject, quote, skipColon, skipSpace, trimEnd } from './scan.ts'
import type { Source } from './source.ts'

/**
 * Calls `found` with each member of the object that opens at `at`: its name, and the start and the end of its value. Of equal names
 * the last one counts, as in JSON.parse. If the object is not valid JSON, the members before the error are found.
 */
export function findMembers(
  { text, units }: Source,
  at: number,
  found: (name: string, start: number, end: number) => void,
): void {
  if (units[at] !== openObject) return
  let i = skipSpace(units, at + 1)
  while (units[i] === quote) {
    let end = i + 1
    let escaped = false
    for (; units[end] !== quote; end++) {
      if (end >= units.length) return
      if (units[end] !== backslash) continue
      escaped = true
      end++
    }
    const start = skipColon(units, end)
    if (start === -1) return
    const after = endOfValue(units, start)
    const next = after < 0 ? ~after : after
    found(escaped ? unescapeName(text.slice(i, end + 1)) : text.slice(i + 1, end), start, trimEnd(units, next))
    if (units[next] !== comma) return
    i = skipSpace(units, next + 1)
  }
}

/**
 * The source text of each value, by name.
 *
 * @example memberTexts(sourceOf('{"id":1.0}')).get('id') // '1.0'
 */
export function memberTexts(source: Source, at = 0): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  findMembers(source, at, (name, start, end) => texts.set(name, source.text.slice(start, end)))
  return texts
}

/**
 * A name that occurs twice. Parsers disagree about such an object: most take the last value, some the first (RFC 8259 §4, row 42).
 *
 * @example repeatedMember(sourceOf('{"id":1,"i\\u0064":2}')) // 'id'
 */
export function repeatedMember(source: Source): string | undefined {
  const names = new Set<string>()
  let repeated: string | undefined
  findMembers(source, 0, (name) => {
    if (names.has(name)) repeated ??= name
    names.add(name)
  })
  return repeated
}

function unescapeName(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return ''
  }
}
