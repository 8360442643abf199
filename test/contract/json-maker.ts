// Random JSON text for tests, seeded so that a failure can be reproduced.

export type Random = () => number

/** mulberry32 */
export function randomFrom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T
}

// Texts that have broken scanners: structure inside strings, quotes, backslashes, endings of the names that are searched for.
const pieces = [
  'a',
  ':[',
  '},{\\"a',
  '[',
  ']',
  '{',
  '}',
  ',',
  '\\":[',
  '\\"',
  '\\\\',
  '\\u0061',
  '\\n',
  'activity',
  'vity\\"',
  'ü',
  '😀',
  '\\ud83d\\ude00',
  ' ',
]
const numbers = [
  '0',
  '-0',
  '7',
  '42',
  '-1',
  '1.0',
  '1e3',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '1e400',
]
const names = ['a', 'b', 'activity', 'id', 'user_id', 'brand_id', '\\u0069d', 'activit\\u0079', 'x', 'title', 'ix', '']

export function randomString(random: Random): string {
  let text = '"'
  for (let n = Math.floor(random() * 4); n > 0; n--) text += pick(random, pieces)
  return `${text}"`
}

export function randomJson(random: Random, space: () => string, depth = 0): string {
  const kind = Math.floor(random() * (depth > 4 ? 3 : 6))
  if (kind === 0) return pick(random, numbers)
  if (kind === 1) return pick(random, ['true', 'false', 'null'])
  if (kind === 2) return randomString(random)
  const parts: string[] = []
  for (let n = Math.floor(random() * 4); n > 0; n--) {
    const value = randomJson(random, space, depth + 1)
    parts.push(kind === 3 ? value : `"${pick(random, names)}"${space()}:${space()}${value}`)
  }
  const inside = parts.join(`${space()},${space()}`)
  return kind === 3 ? `[${space()}${inside}${space()}]` : `{${space()}${inside}${space()}}`
}

/** The white space of one sender: none, single spaces or random. */
export function spacing(random: Random): () => string {
  const style = Math.floor(random() * 3)
  if (style === 0) return () => ''
  if (style === 1) return () => ' '
  return () => pick(random, ['', '', ' ', '\n  ', '\t', '\r\n'])
}
