import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'

const minuteMs = 60_000

interface Missing {
  messages: number
  pointers: readonly string[]
}

/**
 * Warns of messages that were delivered without title and body: the pointers to the content are a setting, which may be wrong
 * (§2.1). The first such message of a brand is reported at once, the following ones as one count per minute.
 */
export function createTextWatch(
  everyMs = minuteMs,
): (brand: string, channel: string, pointers: readonly string[]) => void {
  const missing = new Map<string, Missing>()

  function warn(brand: string, messages: number, pointers: readonly string[]): void {
    const next: Missing = { messages: 0, pointers }
    missing.set(brand, next)
    emit('content.missing', { brand, messages, pointers: pointers.join(', ') })
    clock
      .setTimeout(() => {
        if (next.messages > 0) warn(brand, next.messages, next.pointers)
        else missing.delete(brand)
      }, everyMs)
      .unref()
  }

  return (brand, channel, pointers) => {
    emit('message.without_text', { brand, channel })
    const current = missing.get(brand)
    if (!current) return warn(brand, 1, pointers)
    current.messages++
    current.pointers = pointers
  }
}
