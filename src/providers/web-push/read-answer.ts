// What a push service's answer means: for the message, and for the subscription (RFC 8030 §5, §7.3; RFC 8292 §4.2).

import { retryAfterMs } from '../../contract/retry-after.ts'
import { shortened } from '../../contract/storable.ts'
import type { DeviceAnswer } from '../push-service.ts'

export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Reads the answer to one message. One credential reaches the push services of several browser makers, so what one of them cannot
 * do now is blamed on the message: the others go on. Only a refused credential is blamed on the provider. Such an answer says
 * token 'mismatch' too: where the same credential has had sends accepted, it is this subscription that was made for another key,
 * and whoever knows that (the service guard) fails the message instead of pausing.
 *
 * @param now epoch milliseconds, for a Retry-After that is a date
 * @example readWebPushAnswer(410, {}, '') // { category: 'failed', reason: 'rejected', token: 'gone', rule: 'web-push 410', … }
 * @example readWebPushAnswer(503, { 'retry-after': '7' }, '') // { category: 'fatal', reason: 'unavailable', retryAfterMs: 7000, … }
 */
export function readWebPushAnswer(
  status: number,
  headers: AnswerHeaders,
  body: string,
  now: number = Date.now(),
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
  const again = (reason: 'rate_limited' | 'unavailable' | 'nonsense', text: string): DeviceAnswer => {
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
  // Row 8: a redirect is never followed, and here it could lead anywhere.
  if (status >= 300 && status < 400) return again('nonsense', 'a redirect, which is never followed')
  if (status >= 500) return again('unavailable', 'it has trouble of its own; the message is sent again')
  switch (status) {
    case 401:
    case 403:
      return {
        category: 'fatal',
        reason: 'misconfigured',
        blame: 'provider',
        token: 'mismatch',
        error: error(
          'it refuses our VAPID keys or subject; use the keys that the subscription was made with (bellwire doctor looks at them)',
        ),
        rule,
        ...answer,
      }
    case 404:
    case 410:
      return rejected('this subscription does not exist any more; it is unlinked', 'gone')
    case 413:
      return {
        category: 'failed',
        reason: 'too_large',
        error: error('the message is too large; shorten it'),
        rule,
        ...answer,
      }
    case 406: // Windows says so where others say 429
    case 429:
      return again('rate_limited', 'too many messages; it is sent again later')
    case 408:
    case 425:
      return again('unavailable', 'it did not take the message now; it is sent again')
    default:
      return rejected('it does not take this message')
  }
}
