// Builds the outcome of an answer from APNs or FCM. apns/answer.ts and fcm/answer.ts decide which outcome applies. Pure.

import type { Failed, Fatal } from '../../contract/outcome.ts'
import { retryAfterMs } from '../../contract/retry-after.ts'
import { shortened } from '../../contract/storable.ts'
import type { DeviceAnswer } from './push-service.ts'

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Judgement {
  readonly answer: DeviceAnswer
  /** The error code of the service. */
  readonly code?: string
  /** How to fix the cause. Present if a person has to change a setting or an account. */
  readonly remedy?: string
}

export interface ServiceAnswer {
  readonly service: string
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** The error code of the service, or an empty string. */
  readonly code: string
  /** The service's own error message. It is appended to every error. */
  readonly words: string
  /** Epoch milliseconds: needed if Retry-After is a date. */
  readonly now: number
}

/**
 * @example
 * const { failed, fatal, misconfigured } = outcomeBuilders({ service: 'fcm', status: 404, code: 'UNREGISTERED', … })
 * return failed('the app is no longer installed on the device', { token: 'gone' })
 */
export function outcomeBuilders({ service, status, headers, body, code, words, now }: ServiceAnswer) {
  const evidence = { rule: `${service} ${status} ${code}`.trimEnd(), answer: shortened(body) }
  const wait = retryAfterMs(headers['retry-after'], now)
  const error = (problem: string, remedy = ''): string => shortened(`${service}: ${problem}${words}${remedy}`)

  const failed = (
    problem: string,
    more: Partial<Failed> & Pick<DeviceAnswer, 'token' | 'goneSince' | 'concerns'> = {},
  ): Judgement => ({
    answer: { category: 'failed', reason: 'rejected', error: error(problem), ...evidence, ...more },
    code,
  })
  /** The Retry-After of the service overrides our own. */
  const fatal = (problem: string, more: Partial<Fatal> & Pick<DeviceAnswer, 'concerns'> = {}): Judgement => ({
    answer: {
      category: 'fatal',
      reason: 'unavailable',
      blame: 'provider',
      error: error(problem),
      ...evidence,
      ...more,
      ...(wait !== undefined && { retryAfterMs: wait }),
    },
    code,
  })
  const misconfigured = (problem: string, remedy: string, more: Parameters<typeof fatal>[1] = {}): Judgement => ({
    ...fatal(problem, { reason: 'misconfigured', error: error(problem, `; ${remedy}`), ...more }),
    remedy,
  })
  return { failed, fatal, misconfigured }
}
