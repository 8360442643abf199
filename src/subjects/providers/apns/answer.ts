// The meaning of an answer from APNs, for each of its reasons. Pure.

import { objectIn } from '../../../base/runtime/json.ts'
import type { Fatal } from '../../../contract/outcome.ts'
import { shortened } from '../../../contract/storable.ts'
import { type Headers, type Judgement, outcomeBuilders } from '../judge-answer.ts'

const topicRemedy =
  "check topic and apps: each must be a bundle id of the key's team, and the key may be limited to some topics"
const keyRemedy = 'check key, key_id and team_id, that the key is for APNs and was not revoked, and the clock'
const environmentRemedy = 'the key is for one environment only: set environments accordingly, or use a key for both'

/** It concerns a topic or an environment, not the key. */
const ofCounterpart = { concerns: 'counterpart' } as const

/** The reason decides. The status decides only if the reason is missing or unknown. */
const misconfigurations = new Map<
  string,
  readonly [problem: string, remedy: string, more?: { concerns: 'counterpart' }]
>(
  Object.entries({
    DeviceTokenNotForTopic: ['the topic is not that of the app that has this token', topicRemedy, ofCounterpart],
    BadTopic: ['the topic is not valid', topicRemedy, ofCounterpart],
    MissingTopic: ['there is no topic', topicRemedy, ofCounterpart],
    TopicDisallowed: ['the key may not send to this topic', topicRemedy, ofCounterpart],
    ExpiredProviderToken: ['our token is refused as expired although it is new', "set this machine's clock"],
    InvalidProviderToken: ['our token is refused', keyRemedy],
    MissingProviderToken: ['our token did not arrive', 'check proxies in between: the authorization header is missing'],
    BadCertificate: ['the certificate is refused', keyRemedy],
    BadCertificateEnvironment: ['the certificate is for the other environment', environmentRemedy, ofCounterpart],
    Forbidden: ['the key may not do this', keyRemedy],
    UnrelatedKeyIdInToken: [
      'the connection was opened with another key',
      'check key_id, and proxies that share connections',
    ],
    BadEnvironmentKeyIdInToken: ['the key is for the other environment', environmentRemedy, ofCounterpart],
    BadEnvironmentKeyInToken: ['the key is for the other environment', environmentRemedy, ofCounterpart],
  }),
)

const invalidRequests: ReadonlySet<string> = new Set([
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
 * @param now epoch milliseconds: needed if Retry-After is a date
 * @example judgeApns(410, {}, '{"reason":"Unregistered","timestamp":1763721600000}', now)
 * // answer: { category: 'failed', reason: 'rejected', token: 'gone', goneSince: 1763721600000, rule: 'apns 410 Unregistered', … }
 */
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
  if (reason !== undefined && invalidRequests.has(reason)) return failed('APNs does not accept this notification')

  switch (reason) {
    case 'BadDeviceToken':
      return failed('this is not a token of this environment', { token: 'mismatch', ...ofCounterpart })
    case 'Unregistered':
    case 'ExpiredToken':
      return failed('the app is no longer installed on the device', {
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
      return fatal('internal error of APNs', { blame: 'message' })
    case 'ServiceUnavailable':
    case 'Shutdown':
      return fatal('APNs is unavailable', ofCounterpart)
    default:
      return byStatus()
  }

  /** The reason is missing or unknown. */
  function byStatus(): Judgement {
    if (status === 413) return failed('the notification is too large', { reason: 'too_large' })
    if (status === 429) return fatal('too many notifications', { reason: 'rate_limited' })
    if (status === 403) return misconfigured('APNs refuses our request', keyRemedy)
    if (reason === undefined && status < 500) return { answer: notApns(status, body), remedy: addressRemedy }
    if (status >= 400 && status <= 499) return failed('APNs does not accept this notification')
    return fatal(`APNs answered ${status}`, ofCounterpart)
  }
}

const addressRemedy = 'check the URL of APNs, and proxies in between'

/** APNs always answers with a reason, or with the apns-id of an accepted notification. So another server has answered. */
function notApns(status: number, body: string): Fatal {
  return {
    category: 'fatal',
    reason: status < 300 ? 'nonsense' : 'misconfigured',
    blame: 'provider',
    rule: `apns ${status}`,
    error: `apns: a server that is not APNs answered ${status}; ${addressRemedy}`,
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
