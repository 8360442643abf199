import type { Message } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'

const places = 262_144

/**
 * Row 29: the same activity.id with another user or action is another message and is sent, but it smells of a mistake in
 * the platform's set-up, so it is counted. The latest ids are remembered, by this process, each until another takes its place:
 * ids are used twice by mistakes of today, not of last year. Of each there are two hashes of 64 bits, 4 MB in all, as every message
 * passes here: with 32 bits one in some 50,000 ids was taken for another.
 */
export function createIdWatch(): (message: Message) => void {
  const seen = new Int32Array(4 * places)
  const name = new TwoLanes()
  const parts = new TwoLanes()
  return ({ brand, channel, id, key }) => {
    name.start()
    name.add(brand)
    name.add(channel)
    name.add(id)
    parts.start()
    parts.add(key)
    const at = 4 * ((name.low >>> 0) % places)
    const same = seen[at] === name.low && seen[at + 1] === name.high
    if (same && (seen[at + 2] !== parts.low || seen[at + 3] !== parts.high)) emit('message.other_parts', { brand, id })
    seen[at] = name.low
    seen[at + 1] = name.high
    seen[at + 2] = parts.low
    seen[at + 3] = parts.high
  }
}

/** A hash of 64 bits: two of 32 bits over UTF-16 units, with a multiplier each (as in cyrb53). Texts are set apart. */
class TwoLanes {
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
      // Without it the lowest bits of both would depend on the lowest bits of the units alone, and alike.
      high ^= low >>> 15
    }
    this.low = Math.imul(low ^ (low >>> 16), 0x85ebca6b)
    this.high = Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  }
}
