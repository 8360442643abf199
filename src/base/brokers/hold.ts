// Retries of a consumer: while the store is unavailable it holds its messages, and after a lost connection it reconnects.

import { retryIn } from '../runtime/backoff.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { sleep } from '../runtime/sleep.ts'
import type { ConsumerStatus, Received, Take } from './consumer.ts'
import { messageOf } from './reasons.ts'

const storeBackoff = { firstMs: 200, mostMs: 10_000 }
const brokerBackoff = { firstMs: 200, mostMs: 5_000 }
/** An outage of the store is reported at its beginning, and then at this interval. */
const reportEveryMs = 60_000

export interface Hold {
  status(): ConsumerStatus
  /**
   * Calls `take` until it succeeds. While the store is unavailable the messages are held here, not returned to the broker, which
   * would count failed deliveries.
   *
   * @returns false if `signal` aborted before the messages were stored
   */
  takeWithRetries(take: Take, received: readonly Received[], signal: AbortSignal): Promise<boolean>
  /** Runs one session after the other until the signal aborts. After a failure, waits with backoff before the next. */
  runSessions(signal: AbortSignal, session: (established: () => void) => Promise<void>): Promise<void>
}

/** @param consumer the name of the consumer, for events */
export function createHold(consumer: string): Hold {
  let status: ConsumerStatus = { state: 'connecting', since: clock.now() }
  /** When the outage of the store was last reported. */
  let reportedAt: number | undefined
  const enter = (state: ConsumerStatus['state'], error?: string): void => {
    const { lastError = error } = error === undefined ? status : {}
    const since = state === status.state ? status.since : clock.now()
    status = { state, since, ...(lastError !== undefined && { lastError }) }
  }

  return {
    status: () => status,

    async takeWithRetries(take, received, signal) {
      for (let attempt = 1; !signal.aborted; attempt++) {
        try {
          await take(received)
          if (attempt > 1) {
            reportedAt = undefined
            enter('consuming')
            emit('consumer.released', { consumer })
          }
          return true
        } catch (error) {
          const inMs = retryIn(attempt, storeBackoff, storeBackoff.firstMs)
          enter('held', messageOf(error))
          if (reportedAt === undefined || clock.monotonic() - reportedAt >= reportEveryMs) {
            reportedAt = clock.monotonic()
            emit('consumer.held', { consumer, messages: received.length, error: messageOf(error), inMs })
          }
          await sleep(inMs, signal)
        }
      }
      return false
    },

    async runSessions(signal, session) {
      let failures = 0
      while (!signal.aborted) {
        try {
          await session(() => {
            enter('consuming')
            if (failures > 0) emit('consumer.back', { consumer })
            failures = 0
          })
        } catch (error) {
          if (signal.aborted) return
          const inMs = retryIn(++failures, brokerBackoff, 100)
          enter('connecting', messageOf(error))
          emit('consumer.lost', { consumer, error: messageOf(error), inMs })
          await sleep(inMs, signal)
        }
      }
    },
  }
}
