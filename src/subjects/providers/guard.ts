// The guard around the operator's providers: slots, rate, timeout and circuit breaker. On the platform the lane has all of them.

import { type BreakerOptions, breakerDefaults, createBreaker } from '../../base/runtime/breaker.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { createFairSemaphore } from '../../base/runtime/fair-semaphore.ts'
import { recordPauses } from '../../base/runtime/pauses.ts'
import { createSendRate } from '../../base/runtime/send-rate.ts'
import { beginSpan } from '../../base/runtime/spans.ts'
import { timeoutError } from '../../base/runtime/timeout-error.ts'
import type { Failed, Fatal } from '../../contract/outcome.ts'
import { refuseFatal } from '../../contract/refusals.ts'
import { endOfAll } from '../../contract/span-attributes.ts'
import { callProvider, stopping } from './call-provider.ts'
import type { Message, Pause, Provider, Result, SendContext } from './provider.ts'
import { repeatResult } from './read-results.ts'
import type { ServiceState } from './service-state.ts'

export interface GuardOptions {
  /** Maximum number of calls in flight. */
  readonly concurrency: number
  /** Timeout of one call. */
  readonly timeoutMs: number
  /** Circuit breaker: opens after several calls in a row that failed through the fault of the provider alone. */
  readonly breaker?: BreakerOptions
}

/** The checks of messages that may have waited for the rate, or for other calls. */
export interface GuardedContext extends SendContext {
  /** Whether a message may still be sent. Called again after any wait over a second (docs/contributing/decisions.md). */
  readonly checkMessage?: (message: Message) => Promise<Failed | Fatal | undefined>
  /** Called in the same turn of the event loop as each call to the outside: a fatal outcome once another process may own the claim. */
  readonly fence?: () => Fatal | undefined
}

export interface GuardedProvider extends Provider {
  send(messages: readonly Message[], context: GuardedContext): Promise<readonly Result[]>
  state(): ServiceState
}

/** A message may wait before it is sent. After a longer wait, it is checked again. */
export const staleMs = 1_000

/** Least `retryAfterMs` of a message that is refused, for example while another message is the probe. */
export const leastRestMs = 1_000

/**
 * Splits messages into calls of `provider.max`, limits the rate of calls and the calls in flight, and applies deadline, timeout and
 * circuit breaker. Each call is that of callProvider().
 *
 * @example
 * const guarded = guard(provider, { concurrency: 4, timeoutMs: 30_000 })
 * const results = await guarded.send(messages, { deadline: Date.now() + 30_000, signal }) // never rejects
 */
export function guard(provider: Provider, options: GuardOptions): GuardedProvider {
  const { concurrency, timeoutMs } = options
  const rate = createSendRate(provider.callsPerSecond)
  const slots = createFairSemaphore(concurrency, Number.POSITIVE_INFINITY, { rate })
  const breaker = createBreaker(options.breaker ?? breakerDefaults)
  const pauses = recordPauses(provider.name)
  /** The last outcome for which the provider was to blame: the reason given while the breaker is open. */
  let cause: Fatal | undefined

  async function call(messages: readonly Message[], context: GuardedContext): Promise<readonly Result[]> {
    const askedAt = clock.monotonic()
    // All messages of a call are of one brand: the backlog of a brand must not delay another.
    const slot = slots.acquire(context.deadline, messages[0]?.brand)
    if (slot === 'full')
      return repeatResult(messages.length, {
        ...overloaded(rate.waitMs(clock.monotonic(), slots.waiting)),
        untried: true,
      })
    if (slot !== true && !(await slot)) return repeatResult(messages.length, tooLate)
    try {
      const { checkMessage } = context
      if (!checkMessage || clock.monotonic() - askedAt <= staleMs) return await callAdmitted(messages, context)
      const refusals = await Promise.all(messages.map(checkMessage))
      const allowed = messages.filter((_, i) => refusals[i] === undefined)
      const results = (allowed.length === 0 ? [] : await callAdmitted(allowed, context)).values()
      return refusals.map((refusal) => refusal ?? (results.next().value as Result))
    } finally {
      slots.release()
    }
  }

  async function callAdmitted(messages: readonly Message[], context: GuardedContext): Promise<readonly Result[]> {
    const now = clock.monotonic()
    if (context.signal.aborted) return repeatResult(messages.length, stopping)
    if (clock.now() >= context.deadline) return repeatResult(messages.length, tooLate)
    const lost = context.fence?.()
    if (lost) return repeatResult(messages.length, lost)
    const admission = breaker.admit(now)
    if (typeof admission === 'object')
      return repeatResult(messages.length, { ...notCalled(cause, admission.retryAfterMs), untried: true })
    const results = await callWithTimeout(messages, context)
    updateBreaker(results, admission === 'probe')
    slowDownIfRefused(results, now)
    return results
  }

  /** The call has a signal of its own, which aborts at its deadline too. */
  async function callWithTimeout(messages: readonly Message[], context: SendContext): Promise<readonly Result[]> {
    const now = clock.now()
    const deadline = Math.min(now + timeoutMs, context.deadline)
    const controller = new AbortController()
    const abort = (): void => controller.abort(context.signal.reason)
    const timer = clock.setTimeout(() => controller.abort(timeoutError()), deadline - now)
    context.signal.addEventListener('abort', abort, { once: true })
    try {
      const span = beginSpan(`call ${provider.name}`, {
        kind: 'client',
        parent: messages[0]?.context.traceparent,
        links: messages.slice(1).map((message) => message.context.traceparent),
        attributes: () => ({ 'messaging.batch.message_count': messages.length }),
      })
      const results = await callProvider(provider, messages, { deadline, signal: controller.signal })
      span.end(() => endOfAll(results))
      return results
    } finally {
      clock.clearTimeout(timer)
      context.signal.removeEventListener('abort', abort)
    }
  }

  function updateBreaker(results: readonly Result[], probe: boolean): void {
    const blamed = results.find((result) => result.category === 'fatal' && result.blame === 'provider')
    if (results.some((result) => result.category !== 'fatal' || result.blame === 'message')) {
      if (breaker.recordSuccess(probe)) pauses.end()
    } else if (blamed?.category === 'fatal') {
      cause = blamed
      const forMs = breaker.recordFailure(probe, clock.monotonic(), blamed.retryAfterMs)
      if (forMs !== undefined) pauses.begin({ reason: blamed.error, forMs })
    } else breaker.recordUnknown(probe)
  }

  function slowDownIfRefused(results: readonly Result[], sentAt: number): void {
    const refused = results.find((result) => result.category === 'fatal' && result.reason === 'rate_limited')
    if (refused?.category !== 'fatal' || refused.blame !== 'provider') return
    const now = clock.monotonic()
    const perSecond = rate.slowDown(sentAt, now, breaker.restMs(now))
    if (perSecond !== undefined) emit('provider.slowed', { provider: provider.name, perSecond, reason: refused.error })
  }

  return {
    name: provider.name,
    max: provider.max,
    ...(provider.transactional && { transactional: true }),
    ...(provider.check && { check: () => provider.check?.() ?? Promise.resolve([]) }),
    async close() {
      pauses.close()
      await provider.close?.()
    },
    findPauses(messages) {
      if (!breaker.open) return undefined
      const restMs = breaker.restMs(clock.monotonic())
      const pause = { name: provider.name, restMs, refusal: notCalled(cause, Math.max(restMs, leastRestMs)) }
      return new Array<Pause>(messages.length).fill(pause)
    },
    state: () => ({
      name: provider.name,
      waiting: slots.waiting,
      ...(breaker.open && {
        pause: { reason: cause?.error ?? '', restMs: breaker.restMs(clock.monotonic()) },
      }),
    }),
    async send(messages, context) {
      if (messages.length === 0) return []
      if (messages.length <= provider.max) return call(messages, context)
      const parts: Promise<readonly Result[]>[] = []
      for (let from = 0; from < messages.length; from += provider.max) {
        parts.push(call(messages.slice(from, from + provider.max), context))
      }
      return (await Promise.all(parts)).flat()
    },
  }
}

const tooLate = refuseFatal('too_late')

/** @param waitMs how long the waiting calls need at the rate of the provider */
const overloaded = (waitMs: number): Fatal =>
  refuseFatal('too_many_waiting', { retryAfterMs: Math.max(leastRestMs, Math.ceil(waitMs)) })

/** The outcome while the breaker is open. Its error is that of the answer that opened the breaker, because it names the cause. */
const notCalled = (cause: Fatal | undefined, retryAfterMs: number): Fatal =>
  refuseFatal('breaker_open', { ...(cause && { reason: cause.reason, error: cause.error }), retryAfterMs })
