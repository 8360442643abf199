// Rows 1 and 2 of docs/open-points.md: the valid identifiers, which keep every digit.

const largest = '9223372036854775807'
export const integerWords = `an integer from 0 to ${largest}, written in digits alone`

/** The longest activity.id that is a string (row 2). */
export const mostId = 128
/** The longest user_id and trigger_hash (row 34). With row 2 it keeps a message key within the limit of a PostgreSQL index entry. */
export const mostText = 255

/**
 * Whether the JSON text is an integer of row 1: 0 and 9223372036854775807 are; -1, 1.0, 1e3 and 9223372036854775808 are not.
 */
export function isIntegerText(text: string): boolean {
  return (
    /^(0|[1-9][0-9]*)$/.test(text) &&
    (text.length < largest.length || (text.length === largest.length && text <= largest))
  )
}

/**
 * Whether the text has no control characters. In an identifier they are mistakes and would make keys six times as long, and
 * U+0080 to U+009F act on a terminal like escape sequences.
 */
export function isPrintable(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 32 || (unit >= 128 && unit < 160)) return false
  }
  return true
}

/** Whether the text is storable and printable, and has at most this many UTF-16 units, to which keys of the store are limited. */
export function isPlain(text: string, most: number): boolean {
  return text.length <= most && text.isWellFormed() && isPrintable(text)
}

/**
 * The text by which identifiers are compared. An integer equals a string of the same digits (row 2); any other value equals only
 * itself.
 *
 * @example idText('5') === idText('"5"')
 */
export function idText(idJson: string): string {
  return idJson.charCodeAt(0) === 34 ? (JSON.parse(idJson) as string) : idJson
}
