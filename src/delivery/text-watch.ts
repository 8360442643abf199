import { emit } from '../runtime/events.ts'

const minuteMs = 60_000

interface Watched {
  messages: number
  pointers: readonly string[]
}

/**
 * Warns of messages that were delivered without a title and a body, since where content stands is a setting and not in the interface
 * (§2.1): the first of a brand at once, then how many there were in each minute.
 */
export function createTextWatch(
  everyMs = minuteMs,
): (brand: string, channel: string, pointers: readonly string[]) => void {
  const watched = new Map<string, Watched>()

  function warn(brand: string, messages: number, pointers: readonly string[]): void {
    const fresh: Watched = { messages: 0, pointers }
    watched.set(brand, fresh)
    emit('content.missing', { brand, messages, pointers: pointers.join(', ') })
    setTimeout(() => {
      if (fresh.messages > 0) warn(brand, fresh.messages, fresh.pointers)
      else watched.delete(brand)
    }, everyMs).unref()
  }

  return (brand, channel, pointers) => {
    emit('message.without_text', { brand, channel })
    const lately = watched.get(brand)
    if (!lately) return warn(brand, 1, pointers)
    lately.messages++
    lately.pointers = pointers
  }
}
