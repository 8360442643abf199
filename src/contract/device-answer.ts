// Row 19: maps the answer to a link, an unlink or a delivery status (row 24) to the sender's outcome.

import { describeStatus } from './describe-status.ts'
import type { Fatal, Outcome, Reason } from './outcome.ts'
import { retryAfterMs } from './retry-after.ts'
import { shortened } from './storable.ts'

export interface DeviceWireAnswer {
  readonly status: number
  readonly body: string
  /** The header Retry-After, and the time of its arrival in epoch milliseconds, to interpret an HTTP date. */
  readonly retryAfter?: string | undefined
  readonly now?: number
  /** The header Location. */
  readonly location?: unknown
  /** The row of docs/open-points.md that the rule names. Default: 19. */
  readonly row?: number
}

/** The platform will never accept this message; it may accept the user's next one. */
const refusals: ReadonlySet<number> = new Set([400, 413, 422])
/** The key or the address is wrong, so every message gets this answer. */
const misconfigured: ReadonlySet<number> = new Set([401, 403, 404, 405])
/** The platform is unreachable or overloaded. */
const unavailable: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

/**
 * 2xx is successful; 400, 413 and 422 are failed; all other statuses are fatal. A 500 may be caused by this message or by an
 * outage: the lane finds out.
 *
 * @example readPlatformAnswer({ status: 400, body: '{"error":"no such user"}' }) // failed: no such user
 */
export function readPlatformAnswer({ status, body, retryAfter, now, location, row = 19 }: DeviceWireAnswer): Outcome {
  const rule = `row ${row}: ${status}`
  const answer = shortened(body)
  if (status >= 200 && status <= 299) return { category: 'successful', rule, answer }
  const error = errorIn(body) ?? `the platform answered ${describeStatus(status, location)}`
  if (refusals.has(status))
    return { category: 'failed', reason: status === 413 ? 'too_large' : 'rejected', error, rule, answer }
  const waitMs = retryAfterMs(retryAfter, now)
  return {
    category: 'fatal',
    reason: reasonOf(status),
    blame: misconfigured.has(status) || unavailable.has(status) ? 'provider' : 'call',
    error: misconfigured.has(status) ? `${error} (${status}): correct the address or the key` : error,
    rule,
    answer,
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  }
}

/** The outcome without an answer: the request may have arrived. */
export function withoutAnswer(lost: string, isLate: boolean, row = 19): Fatal {
  return {
    category: 'fatal',
    reason: isLate ? 'timeout' : 'unavailable',
    blame: 'provider',
    rule: `row ${row}: no answer`,
    error: shortened(isLate ? 'the platform did not answer in time' : lost),
    uncertain: true,
  }
}

function reasonOf(status: number): Reason {
  if (misconfigured.has(status)) return 'misconfigured'
  return status === 429 ? 'rate_limited' : 'unavailable'
}

function errorIn(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: unknown }
    return typeof error === 'string' ? shortened(error) : undefined
  } catch {
    return undefined
  }
}
