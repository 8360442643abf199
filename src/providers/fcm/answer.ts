// What an answer of FCM means: the table of its errors, row by row. Pure.

import { shown } from '../../contract/shown.ts'
import { shortened } from '../../contract/storable.ts'
import { objectIn } from '../../runtime/json.ts'
import { type Headers, type Judgement, outcomeBuilders } from '../judge-answer.ts'
import type { DeviceAnswer } from '../push-service.ts'

/** Google asks for at least this pause where it gives none. */
const quotaWaitMs = 60_000

/**
 * details[].errorCode first, then error.status, then the HTTP status. Note that a NOT_FOUND alone is about the project: taking it
 * for a dead token would wipe every device over one wrong setting.
 *
 * @param now epoch milliseconds, for a Retry-After that is a date
 * @example readFcmAnswer(404, {}, '{"error":{…"errorCode":"UNREGISTERED"…}}', now)
 * // { category: 'failed', reason: 'rejected', token: 'gone', rule: 'fcm 404 UNREGISTERED', … }
 */
export function readFcmAnswer(status: number, headers: Headers, body: string, now: number): DeviceAnswer {
  return judgeFcm(status, headers, body, now).answer
}

/** The same, with the remedy apart. */
export function judgeFcm(status: number, headers: Headers, body: string, now: number): Judgement {
  const said = readBody(body)
  if (status >= 200 && status <= 299) return { answer: accepted(status, said, body) }
  const code = said.errorCode ?? said.status ?? byStatus(status, said)
  const words = said.message === undefined ? '' : `: ${said.message}`
  const { failed, fatal, misconfigured } = outcomeBuilders({ service: 'fcm', status, headers, body, code, words, now })

  switch (code) {
    case 'INVALID_ARGUMENT':
      if (said.aboutToken) return failed('this is no registration token of FCM', { token: 'mismatch' })
      return failed('FCM does not take this message')
    case 'SENDER_ID_MISMATCH':
      return failed('the token belongs to another Firebase project', { token: 'mismatch' })
    case 'UNREGISTERED':
      return failed('the app is no longer installed there, or got a new token', { token: 'gone' })
    case 'THIRD_PARTY_AUTH_ERROR':
    case 'APNS_AUTH_ERROR':
      return misconfigured(
        "Apple or the browser's push service refuses the key that Firebase has",
        'upload the APNs key or web push certificate in the Firebase console under Cloud Messaging',
      )
    case 'UNAUTHENTICATED':
      return misconfigured(
        'Google refuses the access token',
        'check that the service account is enabled and its key is not revoked',
      )
    case 'PERMISSION_DENIED':
      return misconfigured(
        'the service account may not send for this project',
        'enable the Firebase Cloud Messaging API and give the account the role Firebase Cloud Messaging API Admin',
      )
    case 'NOT_FOUND':
      return misconfigured('there is no such project', 'check project_id of the service account, and base_url')
    case 'QUOTA_EXCEEDED':
    case 'RESOURCE_EXHAUSTED':
      return fatal('too many messages at a time', {
        reason: 'rate_limited',
        // One device's own limit is not the project's.
        blame: said.aboutDevice ? 'message' : 'provider',
        retryAfterMs: quotaWaitMs,
      })
    case 'INTERNAL':
      return fatal('it has a trouble of its own', { blame: 'message' })
    case 'UNAVAILABLE':
      return fatal('it is overloaded or away')
    case 'TOO_LARGE':
      return failed('the message is too large', { reason: 'too_large' })
    case 'GATEWAY':
      // What stands between got no answer from FCM itself: it may have taken the message.
      return fatal(`a gateway answered ${status}`, { uncertain: true })
    case 'ADDRESS':
      return misconfigured(`something that is not FCM answered ${status}`, 'check base_url, and proxies on the way')
    default:
      if (status >= 400 && status <= 499) return failed('FCM does not take this message')
      return fatal(`it answered ${status}`)
  }
}

/** For answers without a word of Google's. */
function byStatus(status: number, { parsed }: Said): string {
  switch (status) {
    case 401:
      return 'UNAUTHENTICATED'
    case 403:
      return parsed ? 'PERMISSION_DENIED' : 'ADDRESS'
    case 404:
      return parsed ? 'NOT_FOUND' : 'ADDRESS'
    case 413:
      return 'TOO_LARGE'
    case 429:
      return 'RESOURCE_EXHAUSTED'
    case 500:
      return 'INTERNAL'
    case 503:
      return 'UNAVAILABLE'
    case 502:
    case 504:
      return 'GATEWAY'
    default:
      return status < 500 && !parsed ? 'ADDRESS' : ''
  }
}

function accepted(status: number, { name }: Said, body: string): DeviceAnswer {
  if (name !== undefined) return { category: 'successful', rule: `fcm ${status}`, providerId: name }
  return {
    category: 'fatal',
    reason: 'nonsense',
    blame: 'provider',
    uncertain: true,
    rule: `fcm ${status} without a name`,
    error: `fcm: something that is not FCM answered ${status}; check base_url, and proxies on the way`,
    answer: shortened(body),
  }
}

interface Said {
  readonly parsed: boolean
  readonly name?: string
  readonly errorCode?: string
  readonly status?: string
  readonly message?: string
  readonly aboutToken?: boolean
  readonly aboutDevice?: boolean
}

interface Detail {
  readonly '@type'?: unknown
  readonly errorCode?: unknown
  readonly fieldViolations?: readonly { readonly field?: unknown }[]
  readonly violations?: unknown
}

function readBody(body: string): Said {
  const { name, error } = (objectIn(body) ?? {}) as {
    name?: unknown
    error?: { status?: unknown; message?: unknown; details?: unknown } | null
  }
  if (typeof name === 'string') return { parsed: true, name }
  if (typeof error !== 'object' || error === null) return { parsed: false }
  const details = (Array.isArray(error.details) ? error.details : []).filter(
    (each): each is Detail => typeof each === 'object' && each !== null,
  )
  const errorCode = details.find((each) => typeof each.errorCode === 'string')?.errorCode as string | undefined
  const fields = details.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []))
  const message = typeof error.message === 'string' ? error.message : undefined
  return {
    parsed: true,
    ...(errorCode !== undefined && { errorCode }),
    ...(typeof error.status === 'string' && { status: error.status }),
    ...(message !== undefined && { message }),
    aboutToken:
      fields.some((each) => each?.field === 'message.token' || each?.field === 'message.fid') ||
      /not a valid FCM registration token/i.test(message ?? ''),
    aboutDevice: details.some(({ violations }) => /device/i.test(shown(violations, 2_000))),
  }
}
