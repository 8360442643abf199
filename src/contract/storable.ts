// Finds and replaces text that PostgreSQL cannot store: U+0000 and lone surrogates. An item that contains them is refused, so
// that it does not fail the transaction of other items; in answers of other systems they are replaced.

/**
 * Checks the source text of an item, including its escapes.
 *
 * @returns a description of the character that cannot be stored; undefined if there is none
 * @example unstorable('{"a":"\\u0000"}') // 'U+0000'
 */
export function unstorable(json: string): string | undefined {
  if (!json.isWellFormed()) return loneSurrogate
  for (let i = json.indexOf('\\'); i !== -1; i = json.indexOf('\\', i)) {
    if (json[i + 1] !== 'u') {
      i += 2
      continue
    }
    const unit = unitAt(json, i)
    i += 6
    if (unit === 0) return 'U+0000'
    if (unit < 0xd800 || unit > 0xdfff) continue
    const second = unit < 0xdc00 && json.startsWith('\\u', i) ? unitAt(json, i) : 0
    if (second < 0xdc00 || second > 0xdfff) return loneSurrogate
    i += 6
  }
  return undefined
}

const loneSurrogate = 'a lone surrogate (half of a character)'

function unitAt(json: string, at: number): number {
  return Number.parseInt(json.slice(at + 2, at + 6), 16)
}

/** Untrusted text, made safe for the store and for people: at most 500 characters, U+0000 and lone surrogates replaced. */
export function shortened(text: string, most = 500): string {
  const short = text.length > most ? `${text.slice(0, most - 1)}…` : text
  return short.toWellFormed().replaceAll('\0', '�')
}
