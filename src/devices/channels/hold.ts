// Retries of a consumer: while the store is unavailable it holds its messages, and after a lost connection it reconnects.

import { retryIn } from '../../runtime/backoff.ts'
import { clock } from '../../runtime/clock.ts'
import { emit } from '../../runtime/events.ts'
import type { Received, Take } from '../device-channel.ts'
import { messageOf } from './reasons.ts'

const backoff = { firstMs: 200, mostMs: 10_000 }

/**
 * Calls `take` until it succeeds. While the store is unavailable the messages are held here, not returned to the broker, which
 * would count failed deliveries.
 *
 * @returns false if `signal` aborted before the messages were stored
 */
export async function takeWithRetries(
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
      await sleep(inMs, signal)
    }
  }
  return false
}

/** Waits; resolves early if the signal aborts. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.setTimeout(end, ms)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}

/** Runs one session after the other until the signal aborts. After a failure, waits with backoff before the next. */
export async function runSessions(
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
      await sleep(inMs, signal)
    }
  }
}
