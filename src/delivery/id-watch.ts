import type { Message } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'

const slots = 262_144

/**
 * Row 29: an activity.id that comes again with another user or action is another message and is sent. It probably shows a mistake
 * in the platform's set-up, so it is counted. This process remembers recent ids only, because such mistakes repeat an id soon:
 * in a hash table of 4 MB, a new id overwrites the old one in its slot. Each slot has 64-bit hashes of the id and of the key:
 * with 32 bits, one in some 50,000 ids was taken for another.
 */
export function createIdWatch(): (message: Message) => void {
  const seen = new Int32Array(4 * slots)
  const name = new Hash64()
  const parts = new Hash64()
  return ({ brand, channel, id, key }) => {
    name.start()
    name.add(brand)
    name.add(channel)
    name.add(id)
    parts.start()
    parts.add(key)
    const at = 4 * ((name.low >>> 0) % slots)
    const same = seen[at] === name.low && seen[at + 1] === name.high
    if (same && (seen[at + 2] !== parts.low || seen[at + 3] !== parts.high)) emit('message.other_parts', { brand, id })
    seen[at] = name.low
    seen[at + 1] = name.high
    seen[at + 2] = parts.low
    seen[at + 3] = parts.high
  }
}

/** A 64-bit hash of texts: two 32-bit hashes of the UTF-16 units, each with its own multiplier (as in cyrb53). */
class Hash64 {
  low = 0
  high = 0

  start(): void {
    this.low = 0xdeadbeef | 0
    this.high = 0x41c6ce57
  }

  add(text: string): void {
    let { low, high } = this
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      low = Math.imul(low ^ unit, 0x9e3779b1)
      high = Math.imul(high ^ unit, 0x5f356495)
      // Otherwise the lowest bits of both hashes would depend, in the same way, on nothing but the lowest bits of the units.
      high ^= low >>> 15
    }
    this.low = Math.imul(low ^ (low >>> 16), 0x85ebca6b)
    this.high = Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  }
}
