// What an answer of APNs means: the table of its reasons, row by row. Pure.

import type { Fatal } from '../../contract/outcome.ts'
import { shortened } from '../../contract/storable.ts'
import { objectIn } from '../../runtime/json.ts'
import { type Headers, type Judgement, outcomeBuilders } from '../judge-answer.ts'
import type { DeviceAnswer } from '../push-service.ts'

const topicRemedy =
  "check topic and apps: each must be a bundle id of the key's team, and the key may be limited to some"
const keyRemedy = 'check key, key_id and team_id, that the key is for APNs and was not revoked, and the clock'
const environmentRemedy = 'the key is for one environment only: set environments to it, or use a key for both'

/** The reason decides; the status only where there is none, or one that is new. */
const misconfigurations = new Map<string, readonly [what: string, remedy: string]>(
  Object.entries({
    DeviceTokenNotForTopic: ['the topic is not that of the app with this token', topicRemedy],
    BadTopic: ['the topic is not valid', topicRemedy],
    MissingTopic: ['there is no topic', topicRemedy],
    TopicDisallowed: ['the key may not send to this topic', topicRemedy],
    ExpiredProviderToken: ['our token is taken for expired although it is new', "set this machine's clock"],
    InvalidProviderToken: ['our token is refused', keyRemedy],
    MissingProviderToken: ['our token did not arrive', 'check proxies on the way: the header authorization is missing'],
    BadCertificate: ['the certificate is refused', keyRemedy],
    BadCertificateEnvironment: ['the certificate is for the other environment', environmentRemedy],
    Forbidden: ['the key may not do this', keyRemedy],
    UnrelatedKeyIdInToken: [
      'the connection began with another key',
      'check key_id, and proxies that share connections',
    ],
    BadEnvironmentKeyIdInToken: ['the key is for the other environment', environmentRemedy],
    BadEnvironmentKeyInToken: ['the key is for the other environment', environmentRemedy],
  }),
)

const faults: ReadonlySet<string> = new Set([
  'BadCollapseId',
  'BadExpirationDate',
  'BadMessageId',
  'BadPriority',
  'InvalidPushType',
  'DuplicateHeaders',
  'PayloadEmpty',
  'MissingDeviceToken',
  'BadPath',
  'MethodNotAllowed',
])

/**
 * @param now epoch milliseconds, for a Retry-After that is a date
 * @example readApnsAnswer(410, {}, '{"reason":"Unregistered","timestamp":1763721600000}', now)
 * // { category: 'failed', reason: 'rejected', token: 'gone', goneSince: 1763721600000, rule: 'apns 410 Unregistered', … }
 */
export function readApnsAnswer(status: number, headers: Headers, body: string, now: number): DeviceAnswer {
  return judgeApns(status, headers, body, now).answer
}

/** The same, with the remedy apart. */
export function judgeApns(status: number, headers: Headers, body: string, now: number): Judgement {
  const id = headers['apns-id']
  if (status === 200) {
    if (typeof id === 'string') return { answer: { category: 'successful', rule: 'apns 200', providerId: id } }
    return { answer: notApns(status, body) }
  }
  const { reason, timestamp } = readBody(body)
  const code = reason ?? ''
  const words = ` (${shortened(reason ?? String(status), 100)})`
  const { failed, fatal, misconfigured } = outcomeBuilders({ service: 'apns', status, headers, body, code, words, now })

  const wrong = misconfigurations.get(code)
  if (wrong) return misconfigured(...wrong)
  if (reason !== undefined && faults.has(reason)) return failed('APNs does not take this notification')

  switch (reason) {
    case 'BadDeviceToken':
      return failed('this is no token of this environment', { token: 'mismatch' })
    case 'Unregistered':
    case 'ExpiredToken':
      return failed('the app is no longer installed there', {
        token: 'gone',
        ...(timestamp !== undefined && { goneSince: timestamp }),
      })
    case 'PayloadTooLarge':
      return failed('the notification is too large', { reason: 'too_large' })
    case 'IdleTimeout':
      return fatal('the connection had been idle for too long', { blame: 'message' })
    case 'TooManyRequests':
      return fatal('too many notifications for this device', { reason: 'rate_limited', blame: 'message' })
    case 'TooManyProviderTokenUpdates':
      return fatal('our token was renewed too often', { reason: 'rate_limited' })
    case 'InternalServerError':
      return fatal('it has a trouble of its own', { blame: 'message' })
    case 'ServiceUnavailable':
    case 'Shutdown':
      return fatal('it is away')
    default:
      return byStatus()
  }

  /** A reason that is new, or none. */
  function byStatus(): Judgement {
    if (status === 413) return failed('the notification is too large', { reason: 'too_large' })
    if (status === 429) return fatal('too many notifications', { reason: 'rate_limited' })
    if (status === 403) return misconfigured('it refuses us', keyRemedy)
    if (reason === undefined && status < 500) return { answer: notApns(status, body), remedy: addressRemedy }
    if (status >= 400 && status <= 499) return failed('APNs does not take this notification')
    return fatal(`it answered ${status}`)
  }
}

const addressRemedy = 'check the address of APNs, and proxies on the way'

/** Apple says a reason with each refusal, and names the notification with each success. */
function notApns(status: number, body: string): Fatal {
  return {
    category: 'fatal',
    reason: status < 300 ? 'nonsense' : 'misconfigured',
    blame: 'provider',
    rule: `apns ${status}`,
    error: `apns: something that is not APNs answered ${status}; ${addressRemedy}`,
    ...(status < 300 && { uncertain: true }),
    answer: shortened(body),
  }
}

function readBody(body: string): { readonly reason?: string; readonly timestamp?: number } {
  const { reason, timestamp } = objectIn(body) ?? {}
  return {
    ...(typeof reason === 'string' && { reason }),
    ...(Number.isSafeInteger(timestamp) && { timestamp: timestamp as number }),
  }
}
