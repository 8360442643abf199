// Validates the results of a provider: one well-formed result for each message. Pure.

import type { Fatal } from '../../contract/outcome.ts'
import { refuseFatal } from '../../contract/refusals.ts'
import { shortened } from '../../contract/storable.ts'
import type { Result } from './provider.ts'

/**
 * Third parties write providers too, so their results are not trusted. A wrong number of results makes all messages fatal,
 * because the results cannot be assigned to messages. A missing or malformed result makes its message fatal.
 *
 * @param uncertain whether a message may have arrived although its result is invalid
 */
export function readResults(answered: unknown, count: number, uncertain: boolean): Result[] {
  if (!Array.isArray(answered)) return repeatResult(count, invalidResult('not a list of results', count, uncertain))
  if (answered.length !== count) {
    return repeatResult(count, invalidResult(`${answered.length} results for ${count} messages`, count, uncertain))
  }
  // Not map(), which skips holes.
  return Array.from(answered, (each) => readResult(each, uncertain))
}

/** Validates the result of one message. */
export function readResult(answered: unknown, uncertain: boolean): Result {
  return wellFormed(answered as Result) ?? invalidResult(`not a valid result: ${shown(answered)}`, 1, uncertain)
}

/** The fatal result for an invalid answer. With several messages the call is to blame, since any of them may be the cause. */
export function invalidResult(fault: string, count: number, uncertain: boolean): Fatal {
  return refuseFatal('nonsense', {
    blame: count > 1 ? 'call' : 'message',
    error: shortened(`the provider failed: ${fault}`),
    ...(uncertain && { uncertain: true }),
  })
}

export const repeatResult = (count: number, result: Result): Result[] => new Array<Result>(count).fill(result)

const blames = new Set(['message', 'call', 'provider'])

/** The result, shortened where necessary. Undefined if it is malformed. */
function wellFormed(result: Result | null | undefined): Result | undefined {
  if (typeof result !== 'object' || result === null || typeof result.rule !== 'string') return undefined
  if (result.ref !== undefined && typeof result.ref !== 'string') return undefined
  switch (result.category) {
    case 'successful':
      return isClean(result.rule) ? result : { ...result, rule: shortened(result.rule) }
    case 'fatal':
      if (!blames.has(result.blame)) return undefined
      return result.retryAfterMs === undefined || Number.isFinite(result.retryAfterMs) ? cleaned(result) : undefined
    case 'failed':
      return cleaned(result)
    default:
      return undefined
  }
}

// Text that is not well formed cannot be stored and would make the settle fail.
function cleaned(result: Exclude<Result, { category: 'successful' }>): Result | undefined {
  const { reason, error, rule, answer } = result
  if (typeof reason !== 'string' || typeof error !== 'string') return undefined
  if (isClean(error) && isClean(rule) && (answer === undefined || isClean(answer))) return result
  const short = { error: shortened(error), rule: shortened(rule) }
  return answer === undefined ? { ...result, ...short } : { ...result, ...short, answer: shortened(String(answer)) }
}

function isClean(text: unknown): boolean {
  return typeof text === 'string' && text.length <= 500 && text.isWellFormed() && !text.includes('\0')
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return typeof value
  }
}
