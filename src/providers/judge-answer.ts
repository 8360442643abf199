// The outcomes of an answer as APNs and FCM give it; which of them it is, the table of each says. Pure.

import type { Failed, Fatal } from '../contract/outcome.ts'
import { retryAfterMs } from '../contract/retry-after.ts'
import { shortened } from '../contract/storable.ts'
import type { DeviceAnswer } from './push-service.ts'

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Judged {
  readonly answer: DeviceAnswer
  /** Where somebody must put something right. */
  readonly remedy?: string
}

export interface Said {
  readonly service: string
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** The service's own name for what is wrong, if it has one. */
  readonly code: string
  /** What every error ends with: the service's own words. */
  readonly words: string
  /** Epoch milliseconds, for a Retry-After that is a date. */
  readonly now: number
}

/**
 * @example
 * const { failed, fatal, misconfigured } = judgementsOf({ service: 'fcm', status: 404, code: 'UNREGISTERED', … })
 * return failed('the app is no longer installed there', { token: 'gone' })
 */
export function judgementsOf({ service, status, headers, body, code, words, now }: Said) {
  const evidence = { rule: `${service} ${status} ${code}`.trimEnd(), answer: shortened(body) }
  const wait = retryAfterMs(headers['retry-after'], now)
  const error = (what: string, remedy = ''): string => shortened(`${service}: ${what}${words}${remedy}`)

  const failed = (what: string, more: Partial<Failed> & Pick<DeviceAnswer, 'token' | 'goneSince'> = {}): Judged => ({
    answer: { category: 'failed', reason: 'rejected', error: error(what), ...evidence, ...more },
  })
  /** The pause that it asks for comes before one of ours. */
  const fatal = (what: string, more: Partial<Fatal> = {}): Judged => ({
    answer: {
      category: 'fatal',
      reason: 'unavailable',
      blame: 'provider',
      error: error(what),
      ...evidence,
      ...more,
      ...(wait !== undefined && { retryAfterMs: wait }),
    },
  })
  const misconfigured = (what: string, remedy: string): Judged => ({
    ...fatal(what, { reason: 'misconfigured', error: error(what, `; ${remedy}`) }),
    remedy,
  })
  return { failed, fatal, misconfigured }
}
