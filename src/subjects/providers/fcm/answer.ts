// The meaning of an answer from FCM, for each of its errors. Pure.

import { objectIn } from '../../../base/runtime/json.ts'
import { shown } from '../../../contract/shown.ts'
import { shortened } from '../../../contract/storable.ts'
import { type Headers, type Judgement, outcomeBuilders } from '../judge-answer.ts'
import type { DeviceAnswer } from '../push-service.ts'

/** Google's documentation asks for at least this pause if an answer has no Retry-After. */
const quotaWaitMs = 60_000

/**
 * Reads details[].errorCode, else error.status, else the HTTP status. NOT_FOUND alone concerns the project: if it were read as a
 * dead token, one wrong setting would unlink every device.
 *
 * @param now epoch milliseconds: needed if Retry-After is a date
 * @example judgeFcm(404, {}, '{"error":{…"errorCode":"UNREGISTERED"…}}', now)
 * // answer: { category: 'failed', reason: 'rejected', token: 'gone', rule: 'fcm 404 UNREGISTERED', … }
 */
export function judgeFcm(status: number, headers: Headers, body: string, now: number): Judgement {
  const parsed = readBody(body)
  if (status >= 200 && status <= 299) return { answer: accepted(status, parsed, body) }
  const code = parsed.errorCode ?? parsed.status ?? byStatus(status, parsed)
  const words = parsed.message === undefined ? '' : `: ${parsed.message}`
  const { failed, fatal, misconfigured } = outcomeBuilders({ service: 'fcm', status, headers, body, code, words, now })

  switch (code) {
    case 'INVALID_ARGUMENT':
      if (parsed.aboutToken)
        return failed('this is not a registration token of FCM', { token: 'mismatch', concerns: 'counterpart' })
      return failed('FCM does not accept this message')
    case 'SENDER_ID_MISMATCH':
      return failed('the token belongs to another Firebase project', { token: 'mismatch', concerns: 'counterpart' })
    case 'UNREGISTERED':
      return failed('the app is no longer installed on the device, or has a new token', { token: 'gone' })
    case 'THIRD_PARTY_AUTH_ERROR':
    case 'APNS_AUTH_ERROR':
      // Google accepted our access token. Only the users of one platform behind FCM cannot be reached.
      return misconfigured(
        "Apple or the browser's push service refuses the key that is stored in Firebase",
        'upload the APNs key or web push certificate in the Firebase console under Cloud Messaging',
        { blame: 'message' },
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
      return misconfigured('the project does not exist', 'check project_id of the service account, and base_url', {
        concerns: 'counterpart',
      })
    case 'QUOTA_EXCEEDED':
    case 'RESOURCE_EXHAUSTED':
      return fatal('too many messages at a time', {
        reason: 'rate_limited',
        // The limit of one device does not affect the project.
        blame: parsed.aboutDevice ? 'message' : 'provider',
        retryAfterMs: quotaWaitMs,
      })
    case 'INTERNAL':
      return fatal('internal error of FCM', { blame: 'message' })
    case 'UNAVAILABLE':
      return fatal('FCM is overloaded or unavailable')
    case 'TOO_LARGE':
      return failed('the message is too large', { reason: 'too_large' })
    case 'GATEWAY':
      // A gateway got no answer from FCM, which may have accepted the message.
      return fatal(`a gateway answered ${status}`, { uncertain: true })
    case 'ADDRESS':
      return misconfigured(`a server that is not FCM answered ${status}`, 'check base_url, and proxies in between')
    default:
      if (status >= 400 && status <= 499) return failed('FCM does not accept this message')
      return fatal(`FCM answered ${status}`)
  }
}

/** The error code of an answer without an error of Google. */
function byStatus(status: number, { recognized }: ParsedBody): string {
  switch (status) {
    case 401:
      return 'UNAUTHENTICATED'
    case 403:
      return recognized ? 'PERMISSION_DENIED' : 'ADDRESS'
    case 404:
      return recognized ? 'NOT_FOUND' : 'ADDRESS'
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
      return status < 500 && !recognized ? 'ADDRESS' : ''
  }
}

function accepted(status: number, { name }: ParsedBody, body: string): DeviceAnswer {
  if (name !== undefined) return { category: 'successful', rule: `fcm ${status}`, providerId: name }
  return {
    category: 'fatal',
    reason: 'nonsense',
    blame: 'provider',
    uncertain: true,
    rule: `fcm ${status} without a name`,
    error: `fcm: a server that is not FCM answered ${status}; check base_url, and proxies in between`,
    answer: shortened(body),
  }
}

interface ParsedBody {
  /** The body has the form of an FCM answer. */
  readonly recognized: boolean
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

function readBody(body: string): ParsedBody {
  const { name, error } = (objectIn(body) ?? {}) as {
    name?: unknown
    error?: { status?: unknown; message?: unknown; details?: unknown } | null
  }
  if (typeof name === 'string') return { recognized: true, name }
  if (typeof error !== 'object' || error === null) return { recognized: false }
  const details = (Array.isArray(error.details) ? error.details : []).filter(
    (each): each is Detail => typeof each === 'object' && each !== null,
  )
  const errorCode = details.find((each) => typeof each.errorCode === 'string')?.errorCode as string | undefined
  const fields = details.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []))
  const message = typeof error.message === 'string' ? error.message : undefined
  return {
    recognized: true,
    ...(errorCode !== undefined && { errorCode }),
    ...(typeof error.status === 'string' && { status: error.status }),
    ...(message !== undefined && { message }),
    aboutToken:
      fields.some((each) => each?.field === 'message.token' || each?.field === 'message.fid') ||
      /not a valid FCM registration token/i.test(message ?? ''),
    aboutDevice: details.some(({ violations }) => /device/i.test(shown(violations, 2_000))),
  }
}
