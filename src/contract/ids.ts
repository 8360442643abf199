// Rows 1 and 2 of docs/open-points.md: which identifiers there are, and that they keep every digit.

import type { Units } from './scan.ts'

const largest = '9223372036854775807'
export const integerWords = `an integer from 0 to ${largest}, written in digits alone`

/** Longest activity.id written as a string (row 2). */
export const mostId = 128
/** Longest user_id and trigger_hash (row 34): with row 2 it keeps the key of a message inside what a PostgreSQL index can hold. */
export const mostText = 255

/**
 * Is this piece of JSON an integer of row 1? So 0 and 9223372036854775807 are; -1, 1.0, 1e3 and 9223372036854775808 are not.
 * The piece must come from valid JSON (no leading zeros).
 */
export function isInteger(units: Units, start: number, end: number): boolean {
  const digits = end - start
  if (digits < 1 || digits > largest.length) return false
  for (let i = start; i < end; i++) {
    const unit = units[i] as number
    if (unit < 48 || unit > 57) return false
  }
  return digits < largest.length || isAtMostLargest(units, start)
}

function isAtMostLargest(units: Units, start: number): boolean {
  for (let i = 0; i < largest.length; i++) {
    const difference = (units[start + i] as number) - largest.charCodeAt(i)
    if (difference !== 0) return difference < 0
  }
  return true
}

/** The same for a text of its own. */
export function isIntegerText(text: string): boolean {
  return (
    /^(0|[1-9][0-9]*)$/.test(text) &&
    (text.length < largest.length || (text.length === largest.length && text <= largest))
  )
}

/**
 * May it identify something? Control characters may not: they are mistakes, would make keys six times as long, and those from U+0080
 * to U+009F command a terminal as escapes do.
 */
export function isPrintable(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 32 || (unit >= 128 && unit < 160)) return false
  }
  return true
}

/**
 * By what identifiers are compared: an integer and a string of the same digits are the same (row 2); a value that is neither is only
 * the same as itself.
 *
 * @example idText('5') === idText('"5"')
 */
export function idText(idJson: string): string {
  return idJson.charCodeAt(0) === 34 ? (JSON.parse(idJson) as string) : idJson
}
