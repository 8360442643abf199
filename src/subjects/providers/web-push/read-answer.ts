// The meaning of a push service's answer for the message and for the subscription (RFC 8030 §5, §7.3; RFC 8292 §4.2).

import { clock } from '../../../base/runtime/clock.ts'
import { retryAfterMs } from '../../../contract/retry-after.ts'
import { shortened } from '../../../contract/storable.ts'
import type { DeviceAnswer } from '../push-service.ts'

/**
 * The subscription belongs to another key. Google: "the VAPID credentials … do not correspond to the credentials used to create the
 * subscriptions", for old ones UnauthorizedRegistration. Apple: VapidPkHashMismatch. Mozilla: "VAPID public key mismatch".
 */
const isOtherKey =
  /VapidPkHashMismatch|VAPID public key mismatch|credentials used to create the subscription|UnauthorizedRegistration/i
/** Apple and Mozilla refuse our token: its signature, subject, audience or time. */
const isOurClaim = /JwtToken|VapidHeader|AuthorizationHeader|"errno": ?109\b/i

export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Reads the answer to one message. One credential reaches the push services of several browser vendors, so a failure of one of
 * them concerns that counterpart only. The status does not say whether a vendor refuses our credential or this subscription, so
 * the body is read: only an answer that names the key of the subscription has token 'mismatch'.
 *
 * @param now epoch milliseconds: needed if Retry-After is a date
 * @param host names the vendor in the error
 * @example readWebPushAnswer(410, {}, '') // { category: 'failed', reason: 'rejected', token: 'gone', rule: 'web-push 410', … }
 * @example readWebPushAnswer(503, { 'retry-after': '7' }, '') // { category: 'fatal', reason: 'unavailable', retryAfterMs: 7000, … }
 */
export function readWebPushAnswer(
  status: number,
  headers: AnswerHeaders,
  body: string,
  now: number = clock.now(),
  host = 'the push service',
): DeviceAnswer {
  const rule = `web-push ${status}`
  const answer = body === '' ? {} : { answer: shortened(body) }
  const error = (text: string): string => `${host} answered ${status}: ${text}`
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
      // A rate and a redirect may concern one subscription only.
      ...(reason === 'unavailable' ? ({ blame: 'provider', concerns: 'counterpart' } as const) : { blame: 'message' }),
      error: error(text),
      rule,
      ...answer,
      ...(wait !== undefined && { retryAfterMs: wait }),
    }
  }

  const misconfigured = (text: string): DeviceAnswer => ({
    category: 'fatal',
    reason: 'misconfigured',
    blame: 'provider',
    concerns: 'counterpart',
    error: error(text),
    rule,
    ...answer,
  })

  if (status >= 200 && status < 300) {
    const { location } = headers
    return { category: 'successful', rule, ...(typeof location === 'string' && { providerId: shortened(location) }) }
  }
  // Row 8: a redirect is never followed. Its target would be unchecked.
  if (status >= 300 && status < 400) return retryable('nonsense', 'a redirect, which is never followed')
  if (status >= 500) return retryable('unavailable', 'an internal error; the message is sent again')
  const refusesKey = status === 401 || status === 403 || status === 400
  if (refusesKey && isOtherKey.test(body)) {
    const text = 'the subscription was made with another VAPID key; the page has to subscribe again with ours'
    return { ...misconfigured(text), token: 'mismatch' }
  }
  if (status === 401 || status === 403 || (status === 400 && isOurClaim.test(body))) {
    return misconfigured(
      "it refuses our VAPID claims; check the subject, the keys and this machine's clock (bellwire doctor checks them)",
    )
  }
  switch (status) {
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
