// The smallest steps through JSON text. They check no grammar: JSON.parse does that. They only find where things end.

export type Units = Uint8Array | Uint16Array

export const quote = 34
export const comma = 44
export const openArray = 91
export const backslash = 92
export const closeArray = 93
export const openObject = 123
export const closeObject = 125
export const colon = 58
/** White space is never above it; nothing else that may stand outside of strings is below. */
export const space = 32

/** An element nested deeper than this is refused: recursive code further on must be able to trust it. */
export const mostLevels = 100

/** @returns the first position from `at` on that is not white space */
export function skipSpace(units: Units, at: number): number {
  let i = at
  while (isSpace(units[i])) i++
  return i
}

/** @returns one past the last character before `end` that is not white space */
export function trimEnd(units: Units, end: number): number {
  let i = end
  while (isSpace(units[i - 1])) i--
  return i
}

/** @returns the position after the colon that follows the key closed at `key`, or -1 */
export function skipColon(units: Units, key: number): number {
  const at = skipSpace(units, key + 1)
  return units[at] === colon ? skipSpace(units, at + 1) : -1
}

/** @returns the position of the quote that closes the string opened at `at`; the length where none does */
export function endOfString(units: Units, at: number): number {
  for (let i = at + 1; i < units.length; i++) {
    const unit = units[i]
    if (unit === quote) return i
    if (unit === backslash) i++
  }
  return units.length
}

/**
 * @returns the position of what ends the value that begins at `at`: a comma or a closing bracket that is not the value's own;
 * the length where the text is cut short; `~position` where the value is nested deeper than mostLevels
 */
export function endOfValue(units: Units, at: number): number {
  const { length } = units
  let depth = 0
  let deepest = 0
  let i = at
  for (; i < length; i++) {
    const unit = units[i] as number
    if (unit === quote) {
      for (i++; i < length; i++) {
        const inside = units[i] as number
        if (inside === quote) break
        if (inside === backslash) i++
      }
    } else if (unit === comma) {
      if (depth === 0) break
    } else if (unit > 90) {
      if (unit === openObject || unit === openArray) {
        if (++depth > deepest) deepest = depth
      } else if (unit === closeObject || unit === closeArray) {
        if (depth-- === 0) break
      }
    }
  }
  if (i > length) i = length
  return deepest > mostLevels ? ~i : i
}

/** indexOf() that answers the length where there is nothing, so that positions can be compared. */
export function indexFrom(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from)
  return found === -1 ? text.length : found
}

/** Is the value that fills start to end nested deeper than mostLevels? Only what opens many brackets is followed sign by sign. */
export function isDeep(text: string, units: Units, start: number, end: number): boolean {
  if (end - start <= 2 * mostLevels) return false
  const value = text.slice(start, end) // so that no search runs on behind it
  return count(value, '{') + count(value, '[') > mostLevels && endOfValue(units.subarray(start, end), 0) < 0
}

function count(text: string, what: string): number {
  let found = 0
  for (let i = text.indexOf(what); i !== -1 && found <= mostLevels; i = text.indexOf(what, i + 1)) found++
  return found
}

export function isSpace(unit: number | undefined): boolean {
  return unit === 32 || unit === 10 || unit === 13 || unit === 9
}
