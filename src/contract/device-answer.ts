// Row 19: maps the answer to a link or an unlink to the sender's outcome.

import type { Outcome, Reason } from './outcome.ts'
import { retryAfterMs } from './retry-after.ts'
import { shortened } from './storable.ts'

export interface DeviceWireAnswer {
  readonly status: number
  readonly body: string
  /** The header Retry-After, and the time of its arrival in epoch milliseconds, to interpret an HTTP date. */
  readonly retryAfter?: string | undefined
  readonly now?: number
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
 * @example readDeviceAnswer({ status: 400, body: '{"error":"no such user"}' }) // failed: no such user
 */
export function readDeviceAnswer({ status, body, retryAfter, now }: DeviceWireAnswer): Outcome {
  const rule = `row 19: ${status}`
  const answer = shortened(body)
  if (status >= 200 && status <= 299) return { category: 'successful', rule, answer }
  const error = errorIn(body) ?? `the platform answered ${status}`
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
