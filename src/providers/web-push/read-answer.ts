// The meaning of a push service's answer for the message and for the subscription (RFC 8030 §5, §7.3; RFC 8292 §4.2).

import { retryAfterMs } from '../../contract/retry-after.ts'
import { shortened } from '../../contract/storable.ts'
import { clock } from '../../runtime/clock.ts'
import type { DeviceAnswer } from '../push-service.ts'

export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Reads the answer to one message. One credential reaches the push services of several browser vendors, so a failure of one of
 * them is blamed on the message, and the others are not paused. Only a refused credential is blamed on the provider. The answer
 * then has token 'mismatch' too: if the credential is proven, the subscription was made for another key, and the service guard
 * fails the message instead of pausing.
 *
 * @param now epoch milliseconds: needed if Retry-After is a date
 * @example readWebPushAnswer(410, {}, '') // { category: 'failed', reason: 'rejected', token: 'gone', rule: 'web-push 410', … }
 * @example readWebPushAnswer(503, { 'retry-after': '7' }, '') // { category: 'fatal', reason: 'unavailable', retryAfterMs: 7000, … }
 */
export function readWebPushAnswer(
  status: number,
  headers: AnswerHeaders,
  body: string,
  now: number = clock.now(),
): DeviceAnswer {
  const rule = `web-push ${status}`
  const answer = body === '' ? {} : { answer: shortened(body) }
  const error = (text: string): string => `the push service answered ${status}: ${text}`
  const rejected = (text: string, token?: 'gone'): DeviceAnswer => ({
    category: 'failed',
    reason: 'rejected',
    error: error(text),
    rule,
    ...answer,
    ...(token && { token }),
  })
  const retryable = (reason: 'rate_limited' | 'unavailable' | 'nonsense', text: string): DeviceAnswer => {
    const wait = retryAfterMs(headers['retry-after'], now)
    return {
      category: 'fatal',
      reason,
      blame: 'message',
      error: error(text),
      rule,
      ...answer,
      ...(wait !== undefined && { retryAfterMs: wait }),
    }
  }

  if (status >= 200 && status < 300) {
    const { location } = headers
    return { category: 'successful', rule, ...(typeof location === 'string' && { providerId: shortened(location) }) }
  }
  // Row 8: a redirect is never followed. Its target would be unchecked.
  if (status >= 300 && status < 400) return retryable('nonsense', 'a redirect, which is never followed')
  if (status >= 500) return retryable('unavailable', 'an internal error; the message is sent again')
  switch (status) {
    case 401:
    case 403:
      return {
        category: 'fatal',
        reason: 'misconfigured',
        blame: 'provider',
        token: 'mismatch',
        error: error(
          'it refuses our VAPID keys or subject; use the keys with which the subscription was made (bellwire doctor checks them)',
        ),
        rule,
        ...answer,
      }
    case 404:
    case 410:
      return rejected('the subscription no longer exists; it is unlinked', 'gone')
    case 413:
      return {
        category: 'failed',
        reason: 'too_large',
        error: error('the message is too large; shorten it'),
        rule,
        ...answer,
      }
    case 406: // Windows answers 406 instead of 429
    case 429:
      return retryable('rate_limited', 'too many messages; the message is sent again later')
    case 408:
    case 425:
      return retryable('unavailable', 'it did not accept the message now; the message is sent again')
    default:
      return rejected('it does not accept this message')
  }
}
