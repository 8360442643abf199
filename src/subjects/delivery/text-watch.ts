import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** A campaign may begin with messages that only wake the app. */
const alertAfter = 10

interface Missing {
  messages: number
  pointers: readonly string[]
}

export interface TextWatch {
  /** A message was delivered without title and body. */
  recordMissing(brand: string, channel: string, pointers: readonly string[]): void
  /** A message was delivered with a title or a body. */
  recordFound(brand: string, channel: string): void
}

/**
 * Warns of messages that were delivered without title and body: the pointers to the content are a setting, which may be wrong
 * (§2.1). The first such message of a brand is reported at once, the following ones as one count per minute. If none of the first
 * ten messages of a brand and channel since the start had a text, an alert says so, and again once an hour.
 */
export function createTextWatch(everyMs = minuteMs): TextWatch {
  const missing = new Map<string, Missing>()
  const found = new Set<string>()
  const unrecognised = new Map<string, { messages: number; alertAt: number }>()

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

  function alert(brand: string, channel: string, pointers: readonly string[]): void {
    const key = `${brand} ${channel}`
    if (found.has(key)) return
    const state = unrecognised.get(key) ?? { messages: 0, alertAt: Number.NEGATIVE_INFINITY }
    unrecognised.set(key, state)
    state.messages++
    if (state.messages < alertAfter || clock.monotonic() < state.alertAt) return
    state.alertAt = clock.monotonic() + hourMs
    emit('content.unrecognised', { brand, channel, messages: state.messages, pointers: pointers.join(', ') })
  }

  return {
    recordMissing(brand, channel, pointers) {
      emit('message.without_text', { brand, channel })
      alert(brand, channel, pointers)
      const current = missing.get(brand)
      if (!current) return warn(brand, 1, pointers)
      current.messages++
      current.pointers = pointers
    },
    recordFound(brand, channel) {
      const key = `${brand} ${channel}`
      if (found.has(key)) return
      found.add(key)
      unrecognised.delete(key)
      emit('content.recognised', { brand, channel })
    },
  }
}
