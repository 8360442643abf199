import type { Message } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'

const places = 65_536

/**
 * Row 29: the same activity.id with another user or action is another message and is sent, but it smells of a mistake in
 * the platform's set-up, so it is counted. The latest ids are remembered, by this process, each until another takes its place:
 * ids are used twice by mistakes of today, not of last year. Of each there is only a hash, as every message passes here.
 */
export function createIdWatch(): (message: Message) => void {
  const ids = new Int32Array(places)
  const keys = new Int32Array(places)
  return ({ brand, channel, id, key }) => {
    const name = hash(id, hash(channel, hash(brand, start)))
    const parts = hash(key, start)
    const place = (name >>> 0) % places
    if (ids[place] === name && keys[place] !== parts) emit('message.other_parts', { brand, id })
    ids[place] = name
    keys[place] = parts
  }
}

// FNV-1a, over UTF-16 units.
const start = 0x811c9dc5

function hash(text: string, from: number): number {
  let made = from | 0
  for (let i = 0; i < text.length; i++) made = Math.imul(made ^ text.charCodeAt(i), 0x01000193)
  return made
}
