// The guard around every provider, on both sides: each message gets exactly one outcome in time, even if the provider misbehaves.

import type { Fatal } from '../contract/outcome.ts'
import { refuseFatal } from '../contract/refusals.ts'
import { type BreakerOptions, breakerDefaults, createBreaker } from '../runtime/breaker.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { uuidv7 } from '../runtime/ids.ts'
import { createSemaphore } from '../runtime/semaphore.ts'
import { recordCall } from './calls.ts'
import type { Message, Pause, Provider, Result, SendContext } from './provider.ts'
import { invalidResult, readResults, repeatResult } from './read-results.ts'

export interface GuardOptions {
  /** Maximum number of calls in flight. */
  readonly concurrency: number
  /** Timeout of one call. */
  readonly timeoutMs: number
  /** Circuit breaker: opens after several calls in a row that failed through the fault of the provider alone. */
  readonly breaker?: BreakerOptions
}

/** Least `retryAfterMs` of a message that is refused, for example while another message is the probe. */
export const leastRestMs = 1_000
/** Grace period after the abort signal: then the answer of the provider is no longer awaited. */
const abortGraceMs = 200

/**
 * Splits messages into calls of `provider.max`, limits the calls in flight, and applies deadline, timeout and circuit breaker. An
 * exception, a wrong number of results or a malformed result becomes fatal. Each call is recorded: each result has the id of the
 * call, and the first result has its row in `writes`.
 *
 * @example
 * const guarded = guard(provider, { concurrency: 4, timeoutMs: 30_000 })
 * const results = await guarded.send(messages, { deadline: Date.now() + 30_000, signal }) // never rejects
 */
export function guard(provider: Provider, options: GuardOptions): Provider {
  const { concurrency, timeoutMs } = options
  const slots = createSemaphore(concurrency)
  const breaker = createBreaker(options.breaker ?? breakerDefaults)
  /** The last outcome for which the provider was to blame: the reason given while the breaker is open. */
  let cause: Fatal | undefined
  // A transactional provider has delivered nothing until its writes are committed.
  const uncertain = provider.transactional !== true

  async function call(messages: readonly Message[], context: SendContext): Promise<readonly Result[]> {
    const slot = slots.acquire()
    if (slot) await slot
    try {
      const now = clock.now()
      if (context.signal.aborted) return repeatResult(messages.length, stopping)
      if (now >= context.deadline) return repeatResult(messages.length, tooLate)
      const admission = breaker.admit(now)
      if (typeof admission === 'object')
        return repeatResult(messages.length, { ...notCalled(cause, admission.retryAfterMs), untried: true })
      const results = await sendWithTimeout(messages, context, now)
      updateBreaker(results, admission === 'probe')
      return addCall(messages, results, now)
    } finally {
      slots.release()
    }
  }

  async function sendWithTimeout(messages: readonly Message[], context: SendContext, now: number): Promise<Result[]> {
    const ms = Math.min(timeoutMs, context.deadline - now)
    const controller = new AbortController()
    const abort = (): void => controller.abort(context.signal.reason)
    context.signal.addEventListener('abort', abort, { once: true })
    const gaveUp = Promise.withResolvers<undefined>()
    let timer = clock.setTimeout(() => {
      controller.abort(new Error('timeout'))
      timer = clock.setTimeout(() => gaveUp.resolve(undefined), abortGraceMs)
    }, ms)
    try {
      const answered = provider.send(messages, { ...context, deadline: now + ms, signal: controller.signal })
      const results = await Promise.race([answered, gaveUp.promise])
      return results === undefined && controller.signal.aborted
        ? repeatResult(messages.length, timedOut(provider, ms, uncertain))
        : readResults(results, messages.length, uncertain)
    } catch (error) {
      if (context.signal.aborted)
        return repeatResult(messages.length, { ...stopping, ...(uncertain && { uncertain: true }) })
      if (controller.signal.aborted) return repeatResult(messages.length, timedOut(provider, ms, uncertain))
      const { message, stack = message } = error instanceof Error ? error : new Error(String(error))
      emit('provider.threw', { provider: provider.name, error: message, stack })
      return repeatResult(messages.length, invalidResult(message, messages.length, uncertain))
    } finally {
      clock.clearTimeout(timer)
      context.signal.removeEventListener('abort', abort)
    }
  }

  function updateBreaker(results: readonly Result[], probe: boolean): void {
    const blamed = results.find((result) => result.category === 'fatal' && result.blame === 'provider')
    if (results.some((result) => result.category !== 'fatal' || result.blame === 'message')) {
      if (breaker.recordSuccess(probe)) emit('provider.resumed', { provider: provider.name })
    } else if (blamed?.category === 'fatal') {
      cause = blamed
      const forMs = breaker.recordFailure(probe, clock.now(), blamed.retryAfterMs)
      if (forMs !== undefined)
        emit('provider.paused', { provider: provider.name, reason: blamed.error, untilMs: clock.now() + forMs })
    } else breaker.recordUnknown(probe)
  }

  /** Adds the id of the call to each result, and the row of the call to the first. */
  function addCall(messages: readonly Message[], results: readonly Result[], at: number): Result[] {
    const id = uuidv7()
    const ms = clock.now() - at
    let failed = 0
    let fatal = 0
    let decisive: Result | undefined
    for (const result of results) {
      if (result.category === 'successful') continue
      if (result.category === 'failed') failed++
      else fatal++
      decisive ??= result
    }
    const { rule } = decisive ?? (results[0] as Result)
    const error = decisive && decisive.category !== 'successful' ? decisive.error : undefined
    const answer = (decisive ?? results[0])?.answer ?? null
    const row = recordCall({
      id,
      provider: provider.name,
      at,
      ms,
      messages: messages.length,
      rule,
      answer,
      error: error ?? null,
    })
    emit('call.done', {
      provider: provider.name,
      messages: messages.length,
      ms,
      rule,
      fatal,
      failed,
      ...(error !== undefined && { error }),
    })
    return results.map((result, i) =>
      i === 0 ? { ...result, call: id, writes: [...(result.writes ?? []), row] } : { ...result, call: id },
    )
  }

  return {
    name: provider.name,
    max: provider.max,
    ...(provider.transactional && { transactional: true }),
    ...(provider.check && { check: () => provider.check?.() ?? Promise.resolve([]) }),
    ...(provider.close && { close: async () => provider.close?.() }),
    findPauses(messages) {
      if (!breaker.open) return undefined
      const restMs = breaker.restMs(clock.now())
      const pause = { name: provider.name, restMs, refusal: notCalled(cause, Math.max(restMs, leastRestMs)) }
      return new Array<Pause>(messages.length).fill(pause)
    },
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

function timedOut(provider: Provider, ms: number, uncertain: boolean): Fatal {
  const error = `${provider.name} did not answer within ${ms} ms`
  return refuseFatal('timed_out', { error, ...(uncertain && { uncertain: true }) })
}

const tooLate = refuseFatal('too_late')

export const stopping = refuseFatal('stopping')

/** The outcome while the breaker is open. Its error is that of the answer that opened the breaker, because it names the cause. */
const notCalled = (cause: Fatal | undefined, retryAfterMs: number): Fatal =>
  refuseFatal('breaker_open', { ...(cause && { reason: cause.reason, error: cause.error }), retryAfterMs })
