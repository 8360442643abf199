import { channels } from '../../contract/endpoints.ts'
import { erasedKey as erasedMessageKey, readMessageKey } from '../../contract/message-key.ts'
import { quote } from '../../contract/quote.ts'
import type { ErasedPerson } from '../people/digest.ts'

/**
 * The key of an item that belongs to a user, for lanes that are ordered by user.
 *
 * @example userKey('link', '1001', '0197…') // '["link","1001","0197…"]'
 */
export function userKey(kind: string, userId: string, id: string): string {
  return `[${quote(kind)},${quote(userId)},${quote(id)}]`
}

/** Reads a key made by userKey(). Undefined for other keys. */
export function readUserKey(key: string): { kind: string; userId: string; id: string } | undefined {
  if (!key.startsWith('["')) return undefined
  try {
    const parts: unknown = JSON.parse(key)
    if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string'))
      return undefined
    const [kind, userId, id] = parts as [string, string, string]
    return { kind, userId, id }
  } catch {
    return undefined
  }
}

/** Whether the item is a message. A lane may have other items, such as device events. */
export const isMessage = (key: string): boolean => channels.some((channel) => key.startsWith(`["${channel}"`))

/** The parts of a message's key (row 29). Undefined for other items, such as device events. */
export function readMessageParts(key: string): ReturnType<typeof readMessageKey> | undefined {
  if (!key.startsWith('["')) return undefined
  try {
    return readMessageKey(key)
  } catch {
    return undefined
  }
}

/** The members of an event about an attempt. `id` is the activity.id; an item that is not a message has none. */
export const eventFieldsOf = (
  lane: string,
  { seq, key, attempt }: { readonly seq: number; readonly key: string; readonly attempt: number },
) => ({ lane, seq, ...(isMessage(key) && { id: readBatchId(key) }), attempt })

/** The user of an item, or null if its key names no user. */
export function readUserId(key: string): string | null {
  return readMessageParts(key)?.userId ?? readUserKey(key)?.userId ?? null
}

/**
 * The id that is unique within a batch: activity.id, as it is escaped in the key. For an item that is not a message, the whole
 * key. Slicing the id out of the key takes a tenth of the time of parsing the key.
 */
export function readBatchId(key: string): string {
  const from = key.startsWith('["') ? key.indexOf('","') + 3 : 2
  if (from === 2) return key
  const end = key.indexOf('"', from)
  const id = key.slice(from, end)
  return end === -1 || id.includes('\\') ? (readMessageParts(key)?.id ?? key) : id
}

/** The key under which an item of an erased user stays. It has the form of the item's kind. */
export function erasedKey(key: string, { userDigest, digestOf }: ErasedPerson): string {
  const digest = digestOf(key)
  if (isMessage(key)) return erasedMessageKey(key, userDigest, digest)
  return userKey(readUserKey(key)?.kind ?? '', userDigest, digest)
}
