// Low-level scanning of JSON text. These functions only find positions; JSON.parse checks the syntax.

export type Units = Uint8Array | Uint16Array

export const quote = 34
export const comma = 44
export const openArray = 91
export const backslash = 92
export const closeArray = 93
export const openObject = 123
export const closeObject = 125
export const colon = 58

/** An element nested deeper than this is refused, so that recursive code cannot exhaust the stack. */
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

/**
 * @returns the position of the comma or the closing bracket after the value that begins at `at`; `end` if the text is
 * truncated; `~position` if the value is nested deeper than mostLevels
 */
export function endOfValue(units: Units, at: number, end = units.length): number {
  let depth = 0
  let deepest = 0
  let i = at
  for (; i < end; i++) {
    const unit = units[i] as number
    if (unit === quote) {
      i = endOfString(units, i + 1)
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
  if (i > end) i = end
  return deepest > mostLevels ? ~i : i
}

/** @returns the position of the closing quote of the string whose first character is at `at`; at least the length without one */
function endOfString(units: Units, at: number): number {
  // Most strings are short. In a long text, the search of the runtime is four to eighty times as fast.
  const near = findQuote(units, at, Math.min(at + 64, units.length))
  if (units[near] === quote) return near
  const found = units.indexOf(quote, near)
  if (found === -1) return units.length
  return units[found - 1] === backslash ? findQuote(units, near, units.length) : found
}

/** @returns the position of the first quote that is not escaped; at least `end` if there is none before it */
function findQuote(units: Units, at: number, end: number): number {
  let i = at
  for (; i < end; i++) {
    const unit = units[i]
    if (unit === quote) break
    if (unit === backslash) i++
  }
  return i
}

export function isSpace(unit: number | undefined): boolean {
  return unit === 32 || unit === 10 || unit === 13 || unit === 9
}
