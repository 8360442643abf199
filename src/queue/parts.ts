import { type MessageParts, readMessageKey } from '../contract/message-key.ts'

/** The parts of a message's key (row 29); undefined for other items: the queue carries device events and the like too. */
export function partsOf(key: string): MessageParts | undefined {
  if (!key.startsWith('["')) return undefined
  try {
    return readMessageKey(key)
  } catch {
    return undefined
  }
}
