// What stands between us and any provider, on both sides: whatever it does, each message gets exactly one outcome.

import type { Fatal } from '../contract/outcome.ts'
import { type BreakerOptions, createBreaker } from '../runtime/breaker.ts'
import { emit } from '../runtime/events.ts'
import { uuidv7 } from '../runtime/ids.ts'
import { createSlots } from '../runtime/slots.ts'
import { recordCall } from './calls.ts'
import type { Message, Provider, Result, SendContext } from './provider.ts'

export interface GuardOptions {
  /** Calls at a time. */
  readonly concurrency: number
  /** A call that takes longer is given up; its messages may have arrived. */
  readonly timeoutMs: number
  readonly breaker?: BreakerOptions
}

/**
 * Cuts to `provider.max`, bounds concurrency, begins nothing after the deadline, gives up a call that takes too long, opens
 * a breaker when call after call fails by the provider's fault, and turns a throw, a wrong count or nonsense into fatal.
 * Each call is recorded: its row is among the `writes` of its first result.
 *
 * @example const safe = guard(myProvider, { concurrency: 10, timeoutMs: 10_000 })
 */
export function guard(provider: Provider, { concurrency, timeoutMs, breaker: options }: GuardOptions): Provider {
  const slots = createSlots(concurrency)
  const breaker = createBreaker(options)

  async function call(messages: readonly Message[], context: SendContext): Promise<readonly Result[]> {
    const slot = slots.take()
    if (slot) await slot
    try {
      const at = Date.now()
      if (at >= context.deadline) return messages.map(() => tooLate)
      const waitMs = breaker.refuses(at)
      if (waitMs !== undefined) return messages.map(() => paused(provider.name, waitMs))

      const deadline = Math.min(context.deadline, at + timeoutMs)
      const results = await answer(messages, { ...context, deadline })
      const ms = Date.now() - at
      judge(results, at + ms)
      return recorded(messages, results, at, ms)
    } finally {
      slots.give()
    }
  }

  async function answer(messages: readonly Message[], context: SendContext): Promise<readonly Result[]> {
    const patience = withPatience(context.deadline)
    try {
      const results = await Promise.race([provider.send(messages, context), patience.late])
      if (results === late) {
        const error = `${provider.name} gave no answer within ${timeoutMs} ms`
        return messages.map(() => maybeArrived({ reason: 'timeout', blame: 'provider', rule: 'no answer in time', error }))
      }
      if (!Array.isArray(results) || results.length !== messages.length) {
        const got = Array.isArray(results) ? `${results.length} outcomes` : 'no outcomes'
        const error = `${provider.name} answered ${got} for ${messages.length} messages`
        return messages.map(() => maybeArrived({ reason: 'nonsense', blame: 'provider', rule: 'wrong count', error }))
      }
      return results.map((result: unknown) => (isResult(result) ? result : nonsense(result)))
    } catch (thrown) {
      const error = `${provider.name} threw: ${thrown instanceof Error ? thrown.message : String(thrown)}`
      // One of several may be the reason: the lane may look for it.
      const blame = messages.length > 1 ? 'call' : 'message'
      return messages.map(() => maybeArrived({ reason: 'nonsense', blame, rule: 'thrown', error }))
    } finally {
      patience.end()
    }
  }

  /** The other side's trouble is counted; a message's own is not. */
  function judge(results: readonly Result[], now: number): void {
    const first = results[0]
    if (first && results.every((result) => result.category === 'fatal' && result.blame === 'provider')) {
      const { retryAfterMs, error } = first as Fatal
      const forMs = breaker.failed(now, retryAfterMs)
      if (forMs !== undefined) emit('provider.paused', { provider: provider.name, reason: error, untilMs: now + forMs })
    } else if (breaker.worked()) emit('provider.resumed', { provider: provider.name })
  }

  function recorded(messages: readonly Message[], results: readonly Result[], at: number, ms: number): readonly Result[] {
    const id = uuidv7(at)
    const fatal = results.filter((result) => result.category === 'fatal').length
    const failed = results.filter((result) => result.category === 'failed').length
    const worst = results.find((result) => result.category === 'fatal') ?? results.find((result) => result.category === 'failed') ?? results[0]
    const { rule, answer } = worst as Result
    const error = worst && worst.category !== 'successful' ? worst.error : null
    emit('call.done', { provider: provider.name, messages: messages.length, ms, rule, fatal, failed, ...(error !== null && { error }) })
    const row = recordCall({ id, provider: provider.name, at, ms, messages: messages.length, rule, answer: answer ?? null, error })
    return results.map((result, i) => ({ ...result, call: id, ...(i === 0 && { writes: [row, ...(result.writes ?? [])] }) }))
  }

  // A provider that delivers by its writes alone has delivered nothing if they were not returned.
  function maybeArrived(what: Pick<Fatal, 'reason' | 'blame' | 'rule' | 'error'>): Fatal {
    return { category: 'fatal', ...what, ...(!provider.transactional && { uncertain: true as const }) }
  }
  function nonsense(result: unknown): Fatal {
    const shown = JSON.stringify(result)?.slice(0, 200) ?? String(result)
    return maybeArrived({ reason: 'nonsense', blame: 'message', rule: 'no outcome', error: `${provider.name} answered ${shown}, which is no outcome` })
  }

  return {
    ...provider,
    async send(messages, context) {
      if (messages.length <= provider.max) return call(messages, context)
      const calls: Promise<readonly Result[]>[] = []
      for (let from = 0; from < messages.length; from += provider.max) calls.push(call(messages.slice(from, from + provider.max), context))
      return (await Promise.all(calls)).flat()
    },
  }
}

const late = Symbol('late')

function withPatience(deadline: number): { late: Promise<typeof late>; end(): void } {
  let timer: NodeJS.Timeout | undefined
  const promise = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), deadline - Date.now())
  })
  return { late: promise, end: () => clearTimeout(timer) }
}

function isResult(value: unknown): value is Result {
  if (typeof value !== 'object' || value === null) return false
  const { category, rule, error, reason, blame } = value as Record<string, unknown>
  if (typeof rule !== 'string') return false
  if (category === 'successful') return true
  if (typeof error !== 'string' || typeof reason !== 'string') return false
  return category === 'failed' || (category === 'fatal' && (blame === 'message' || blame === 'call' || blame === 'provider'))
}

const tooLate: Fatal = {
  category: 'fatal', reason: 'timeout', blame: 'message', rule: 'deadline passed before the call',
  error: 'the time for this message was over before it could be handed to the provider',
}

function paused(name: string, retryAfterMs: number): Fatal {
  return {
    category: 'fatal', reason: 'unavailable', blame: 'provider', retryAfterMs, rule: 'breaker open',
    error: `${name} failed several times in a row; nothing is sent to it for ${Math.ceil(retryAfterMs / 1000)} s`,
  }
}
