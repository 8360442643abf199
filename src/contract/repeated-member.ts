import { closeObject, comma, endOfString, endOfValue, openObject, quote, skipColon, skipSpace } from './scan.ts'
import type { Source } from './source.ts'

/**
 * Finds a name that occurs twice in the object that opens at `at`, whose JSON is valid. Parsers disagree about such an object:
 * most take the last value, some the first (RFC 8259 §4).
 *
 * @example repeatedMember(sourceOf('{"id":1,"i\\u0064":2}'), 0) // 'id'
 */
export function repeatedMember({ text, units }: Source, at: number): string | undefined {
  if (units[at] !== openObject) return undefined
  const names = new Set<string>()
  for (let i = skipSpace(units, at + 1); units[i] === quote; ) {
    const end = endOfString(units, i)
    const written = text.slice(i + 1, end)
    const name = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written
    if (names.has(name)) return name
    names.add(name)
    const value = skipColon(units, end)
    if (value < 0) return undefined
    const found = endOfValue(units, value)
    i = found < 0 ? ~found : found
    if (units[i] === closeObject || units[i] !== comma) return undefined
    i = skipSpace(units, i + 1)
  }
  return undefined
}
