import { type MessageParts, readMessageKey } from '../contract/message-key.ts'
import { quote } from '../contract/quote.ts'

/**
 * The key of an item that belongs to a user, for lanes that are ordered by user.
 *
 * @example userKey('link', '1001', '0197…') // '["link","1001","0197…"]'
 */
export function userKey(what: string, userId: string, id: string): string {
  return `[${quote(what)},${quote(userId)},${quote(id)}]`
}

/** The parts of a key made by userKey(); undefined for others. */
export function readUserKey(key: string): { what: string; userId: string; id: string } | undefined {
  if (!key.startsWith('["')) return undefined
  try {
    const parts: unknown = JSON.parse(key)
    if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string'))
      return undefined
    const [what, userId, id] = parts as [string, string, string]
    return { what, userId, id }
  } catch {
    return undefined
  }
}

/** The parts of a message's key (row 29); undefined for other items: the queue carries device events and the like too. */
export function partsOf(key: string): MessageParts | undefined {
  if (!key.startsWith('["')) return undefined
  try {
    return readMessageKey(key)
  } catch {
    return undefined
  }
}

/** The user of an item; null: its key names no user. */
export function userOf(key: string): string | null {
  return partsOf(key)?.userId ?? readUserKey(key)?.userId ?? null
}

/**
 * What tells messages apart within a batch: activity.id, as it stands in the key. The key of an item that is no message is
 * unique as it is. Cutting it out costs a tenth of parsing the key.
 */
export function batchIdOf(key: string): string {
  const from = key.startsWith('["') ? key.indexOf('","') + 3 : 2
  if (from === 2) return key
  const end = key.indexOf('"', from)
  const id = key.slice(from, end)
  return end === -1 || id.includes('\\') ? (partsOf(key)?.id ?? key) : id
}
