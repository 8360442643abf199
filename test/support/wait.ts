import { setTimeout as sleep } from 'node:timers/promises'
import { type EventName, type Events, on } from '../../src/base/runtime/events.ts'

export interface Within {
  /** Default: 10 s, which is enough on a busy machine. */
  readonly withinMs?: number
}

/**
 * Waits until the condition returns a truthy value, and returns it. Prefer event() if there is an event to wait for.
 *
 * @param options.awaited names the awaited state, for the error after `withinMs`
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { withinMs = 10_000, awaited }: Within & { readonly awaited: string },
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + withinMs
  // The pause grows: a condition is often a request, which costs processor time.
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 50)) {
    const value = await condition()
    if (value) return value as Exclude<T, false | null | undefined | 0 | ''>
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${awaited}`)
    await sleep(pauseMs)
  }
}

/**
 * Waits for an event of Bellwire. Call it before the action that causes the event, and await it afterwards.
 *
 * @example
 * const settled = event('message.settled', ({ ref }) => ref === '…')
 * await send()
 * await settled
 */
export function event<Name extends EventName>(
  name: Name,
  predicate: (event: Events[Name]) => boolean = () => true,
  { withinMs = 10_000 }: Within = {},
): Promise<Events[Name]> {
  const { promise, resolve, reject } = Promise.withResolvers<Events[Name]>()
  const off = on(name, (emitted) => {
    if (predicate(emitted)) resolve(emitted)
  })
  const late = setTimeout(() => reject(new Error(`Not within ${withinMs} ms: event ${name}`)), withinMs)
  return promise.finally(() => {
    clearTimeout(late)
    off()
  })
}
