// Taking until it is done: what a consumer holds in its hands while the store is away.

import { retryIn } from '../../runtime/backoff.ts'
import { emit } from '../../runtime/events.ts'
import type { Received, Take } from '../device-channel.ts'
import { messageOf } from './reasons.ts'

const backoff = { firstMs: 200, mostMs: 10_000 }

/**
 * Hands messages over until they are taken. The store being away is no message's fault: nothing is given back to the broker,
 * which would count it as a failed delivery; they are held and handed over again.
 *
 * @returns whether they were taken; false: `signal` aborted first
 */
export async function takeAll(
  channel: string,
  take: Take,
  received: readonly Received[],
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await take(received)
      if (attempt > 1) emit('channel.released', { channel })
      return true
    } catch (error) {
      const inMs = retryIn(attempt, backoff, backoff.firstMs)
      emit('channel.held', { channel, messages: received.length, error: messageOf(error), inMs })
      await rest(inMs, signal)
    }
  }
  return false
}

/** Ends early when the signal aborts. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}

/** Runs sessions one after the other until the signal aborts; a session that fails is followed by the next after a rest. */
export async function sessions(
  channel: string,
  signal: AbortSignal,
  session: (established: () => void) => Promise<void>,
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    try {
      await session(() => {
        if (failures > 0) emit('channel.back', { channel })
        failures = 0
      })
    } catch (error) {
      if (signal.aborted) return
      const inMs = retryIn(++failures, { firstMs: 200, mostMs: 5_000 }, 100)
      emit('channel.lost', { channel, error: messageOf(error), inMs })
      await rest(inMs, signal)
    }
  }
}
