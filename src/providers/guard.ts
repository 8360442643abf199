// The guard around every provider, on both sides: whatever a provider does, each message gets one outcome, in time.

import type { Fatal } from '../contract/outcome.ts'
import { type BreakerOptions, breakerDefaults, createBreaker } from '../runtime/breaker.ts'
import { emit } from '../runtime/events.ts'
import { uuidv7 } from '../runtime/ids.ts'
import { createSemaphore } from '../runtime/semaphore.ts'
import { recordCall } from './calls.ts'
import type { Message, Pause, Provider, Result, SendContext } from './provider.ts'
import { fill, nonsense, readResults } from './read-results.ts'

export interface GuardOptions {
  /** Calls at a time. */
  readonly concurrency: number
  /** How long one call may take. */
  readonly timeoutMs: number
  /** Opens after so many calls in a row for which the provider was to blame alone. */
  readonly breaker?: BreakerOptions
}

/** What a message is told to wait that is refused while another one probes. */
export const leastRestMs = 1_000
/** What a provider gets to answer after its signal said that time is up. */
const lastWordsMs = 200

/**
 * Cuts to `provider.max`, bounds calls at a time, applies deadline, timeout and breaker, and turns a throw, a wrong count or
 * nonsense into fatal. Each call is recorded: its id is in each result, its row among the first result's `writes`.
 *
 * @example
 * const guarded = guard(provider, { concurrency: 4, timeoutMs: 30_000 })
 * const results = await guarded.send(messages, { deadline: Date.now() + 30_000, signal }) // never rejects
 */
export function guard(provider: Provider, options: GuardOptions): Provider {
  const { concurrency, timeoutMs } = options
  const slots = createSemaphore(concurrency)
  const breaker = createBreaker(options.breaker ?? breakerDefaults)
  /** What the provider said last of those for which it is to blame: why it is not called while the breaker is open. */
  let cause: Fatal | undefined
  // A provider that delivers by its writes alone has delivered nothing until they are committed.
  const uncertain = provider.transactional !== true

  async function call(messages: readonly Message[], context: SendContext): Promise<readonly Result[]> {
    const slot = slots.acquire()
    if (slot) await slot
    try {
      const now = Date.now()
      if (context.signal.aborted) return fill(messages.length, stopping)
      if (now >= context.deadline) return fill(messages.length, tooLate)
      const admission = breaker.admit(now)
      if (typeof admission === 'object')
        return fill(messages.length, { ...notCalled(cause, admission.retryAfterMs), untried: true })
      const results = await reach(messages, context, now)
      tellBreaker(results, admission === 'probe')
      return recorded(messages, results, now)
    } finally {
      slots.release()
    }
  }

  /** Asks the provider, no longer than it may take. */
  async function reach(messages: readonly Message[], context: SendContext, now: number): Promise<Result[]> {
    const ms = Math.min(timeoutMs, context.deadline - now)
    const controller = new AbortController()
    const abort = (): void => controller.abort(context.signal.reason)
    context.signal.addEventListener('abort', abort, { once: true })
    const silent = Promise.withResolvers<undefined>()
    let timer = setTimeout(() => {
      controller.abort(new Error('timeout'))
      timer = setTimeout(() => silent.resolve(undefined), lastWordsMs)
    }, ms)
    try {
      const answered = provider.send(messages, { ...context, deadline: now + ms, signal: controller.signal })
      const results = await Promise.race([answered, silent.promise])
      return results === undefined && controller.signal.aborted
        ? fill(messages.length, timedOut(provider, ms, uncertain))
        : readResults(results, messages.length, uncertain)
    } catch (error) {
      if (context.signal.aborted) return fill(messages.length, { ...stopping, ...(uncertain && { uncertain: true }) })
      if (controller.signal.aborted) return fill(messages.length, timedOut(provider, ms, uncertain))
      const { message, stack = message } = error instanceof Error ? error : new Error(String(error))
      emit('provider.threw', { provider: provider.name, error: message, stack })
      return fill(messages.length, nonsense(message, messages.length, uncertain))
    } finally {
      clearTimeout(timer)
      context.signal.removeEventListener('abort', abort)
    }
  }

  function tellBreaker(results: readonly Result[], probe: boolean): void {
    const blamed = results.find((result) => result.category === 'fatal' && result.blame === 'provider')
    if (results.some((result) => result.category !== 'fatal' || result.blame === 'message')) {
      if (breaker.recordSuccess(probe)) emit('provider.resumed', { provider: provider.name })
    } else if (blamed?.category === 'fatal') {
      cause = blamed
      const forMs = breaker.recordFailure(probe, Date.now(), blamed.retryAfterMs)
      if (forMs !== undefined)
        emit('provider.paused', { provider: provider.name, reason: blamed.error, untilMs: Date.now() + forMs })
    } else breaker.recordUnknown(probe)
  }

  function recorded(messages: readonly Message[], results: readonly Result[], at: number): Result[] {
    const id = uuidv7()
    const ms = Date.now() - at
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
      const restMs = breaker.restMs(Date.now())
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
  return {
    category: 'fatal',
    reason: 'timeout',
    blame: 'provider',
    rule: 'no answer in time',
    error: `${provider.name} did not answer within ${ms} ms`,
    ...(uncertain && { uncertain: true }),
  }
}

const tooLate: Fatal = {
  category: 'fatal',
  reason: 'timeout',
  blame: 'provider',
  rule: 'the deadline passed before the call',
  error: 'not called: the deadline had passed',
}

export const stopping: Fatal = {
  category: 'fatal',
  reason: 'stopping',
  blame: 'provider',
  rule: 'this process is stopping',
  error: 'this process is stopping',
}

/** With the words of the answer that opened the breaker, so that people see these and not that nobody was asked. */
const notCalled = (cause: Fatal | undefined, retryAfterMs: number): Fatal => ({
  category: 'fatal',
  reason: cause?.reason ?? 'unavailable',
  blame: 'provider',
  rule: 'breaker open',
  error: cause?.error ?? 'no answer yet',
  retryAfterMs,
})
