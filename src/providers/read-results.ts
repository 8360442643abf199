// What a provider answered, made sure of: one result for each message, each well formed. Pure.

import type { Fatal } from '../contract/outcome.ts'
import { shortened } from '../contract/storable.ts'
import type { Result } from './provider.ts'

/**
 * Providers are written by strangers too. A wrong count makes all fatal: nobody knows which result belongs to which
 * message. A hole or nonsense makes that one fatal.
 *
 * @param uncertain whether a message may have arrived although nothing sensible was answered
 */
export function readResults(answered: unknown, count: number, uncertain: boolean): Result[] {
  if (!Array.isArray(answered)) return fill(count, nonsense('not a list of results', count, uncertain))
  if (answered.length !== count) {
    return fill(count, nonsense(`${answered.length} results for ${count} messages`, count, uncertain))
  }
  // Not map(): it leaves holes.
  return Array.from(answered, (each) => readResult(each, uncertain))
}

/** The same for one. */
export function readResult(answered: unknown, uncertain: boolean): Result {
  return wellFormed(answered as Result) ?? nonsense(`a result that is none: ${shown(answered)}`, 1, uncertain)
}

/** A fatal result for an answer that makes no sense: one message may be what the provider stumbles over. */
export function nonsense(what: string, count: number, uncertain: boolean): Fatal {
  return {
    category: 'fatal',
    reason: 'nonsense',
    blame: count > 1 ? 'call' : 'message',
    rule: 'the provider answered nonsense',
    error: shortened(`the provider failed: ${what}`),
    ...(uncertain && { uncertain: true }),
  }
}

export const fill = (count: number, result: Result): Result[] => new Array<Result>(count).fill(result)

const blames = new Set(['message', 'call', 'provider'])

/** Undefined: it is no result. */
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

// Such text cannot be stored, and would fail the settle.
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
