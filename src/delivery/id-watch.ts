import type { Message } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'

/** So many messages are remembered, by this process: ids are used twice by mistakes of today, not of last year. */
const remembered = 50_000

/**
 * Row 29: the same activity.id with another user or action is another message and is sent, but it smells of a mistake in
 * the platform's set-up, so it is counted.
 */
export function createIdWatch(most = remembered): (message: Message) => void {
  // Two generations: when the younger is full, the older is forgotten.
  let young = new Map<string, string>()
  let old = new Map<string, string>()
  return ({ brand, channel, id, key }) => {
    const name = `${brand} ${channel} ${id}`
    const known = young.get(name) ?? old.get(name)
    if (known !== undefined && known !== key) emit('message.other_parts', { brand, id })
    if (young.size >= most / 2) {
      old = young
      young = new Map()
    }
    young.set(name, key)
  }
}
