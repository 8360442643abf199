// What can be stored on both engines: PostgreSQL has no U+0000 and no lone surrogates. One bad item must not fail its neighbours'
// transaction, so items that contain them are refused, and what strangers answer is cleaned.

/** Could the text contain either, written as an escape? Two searches of the whole text spare a look at each item. */
export function mayBeUnstorable(text: string): boolean {
  return text.includes('\\u') && (text.includes('\\u0000') || /\\u[dD][89a-fA-F]/.test(text))
}

/**
 * Looks at the escapes of one item's source text, and at the text itself.
 *
 * @returns what cannot be stored, in words; undefined where all is well
 * @example unstorable('{"a":"\\u0000"}') // 'U+0000'
 */
export function unstorable(json: string): string | undefined {
  if (!json.isWellFormed()) return LONE
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
    if (second < 0xdc00 || second > 0xdfff) return LONE
    i += 6
  }
  return undefined
}

const LONE = 'a lone surrogate (half of a character)'

function unitAt(json: string, at: number): number {
  return Number.parseInt(json.slice(at + 2, at + 6), 16)
}

/** Text of a stranger, fit for the store and for a person: at most 500 characters, U+0000 and lone surrogates replaced. */
export function shortened(text: string, most = 500): string {
  const short = text.length > most ? `${text.slice(0, most - 1)}…` : text
  return short.toWellFormed().replaceAll('\0', '�')
}
