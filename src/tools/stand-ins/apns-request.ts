// Validates the headers and the payload of a notification like APNs. Pure.

import { objectIn } from '../../base/runtime/json.ts'

export interface ApnsRules {
  /** The bundle ids of the team's apps. */
  readonly topics: ReadonlySet<string>
  /** The topics to which the key may send. Absent: all topics of the team. */
  readonly allowed?: readonly string[]
}

export interface ApnsRequest {
  /** The topic without the suffix of its push type. */
  readonly app: string
  readonly aps: Readonly<Record<string, unknown>>
  readonly custom: Readonly<Record<string, unknown>>
  readonly collapseId?: string
  /** Epoch seconds. 0: one delivery attempt only. Absent: Apple decides. */
  readonly expiration?: number
}

const mostBytes = 4096
/** The suffix of the topic for each push type. */
const topicSuffixes = new Map([
  ['alert', ''],
  ['background', ''],
  ['location', '.location-query'],
  ['voip', '.voip'],
  ['complication', '.complication'],
  ['fileprovider', '.pushkit.fileprovider'],
  ['liveactivity', '.push-type.liveactivity'],
  ['pushtotalk', '.voip-ptt'],
  ['widgets', '.push-type.widgets'],
  ['controls', '.push-type.controls'],
])
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** @returns the notification, or Apple's reason for a refusal */
export function readApnsRequest(
  headers: Readonly<Record<string, string>>,
  body: string,
  { topics, allowed }: ApnsRules,
): ApnsRequest | { readonly reason: string } {
  const { 'apns-id': id, 'apns-expiration': expiration, 'apns-priority': priority = '10' } = headers
  const { 'apns-topic': topic, 'apns-push-type': pushType = 'alert', 'apns-collapse-id': collapseId } = headers
  if (id !== undefined && !uuid.test(id)) return { reason: 'BadMessageId' }
  if (expiration !== undefined && !/^\d{1,12}$/.test(expiration)) return { reason: 'BadExpirationDate' }
  if (!['10', '5', '1'].includes(priority)) return { reason: 'BadPriority' }
  const suffix = topicSuffixes.get(pushType)
  if (suffix === undefined) return { reason: 'InvalidPushType' }
  if (pushType === 'background' && priority === '10') return { reason: 'BadPriority' }
  if (collapseId !== undefined && Buffer.byteLength(collapseId) > 64) return { reason: 'BadCollapseId' }
  if (topic === undefined || topic === '') return { reason: 'MissingTopic' }
  if (!/^[A-Za-z0-9.-]+$/.test(topic)) return { reason: 'BadTopic' }
  const app = topic.slice(0, topic.length - suffix.length)
  if (!topic.endsWith(suffix) || !topics.has(app) || (allowed && !allowed.includes(app)))
    return { reason: 'TopicDisallowed' }
  if (body === '') return { reason: 'PayloadEmpty' }
  if (Buffer.byteLength(body) > mostBytes) return { reason: 'PayloadTooLarge' }
  // Apple accepts any payload, even one that no device can show.
  const { aps = {}, ...custom } = objectIn(body) ?? {}
  return {
    app,
    aps: typeof aps === 'object' && aps !== null ? (aps as Record<string, unknown>) : {},
    custom,
    ...(collapseId !== undefined && { collapseId }),
    ...(expiration !== undefined && { expiration: Number(expiration) }),
  }
}

/** The HTTP status of each reason that is not answered 400. */
export const apnsStatus: Readonly<Record<string, number>> = {
  BadEnvironmentKeyInToken: 403,
  ExpiredProviderToken: 403,
  InvalidProviderToken: 403,
  MissingProviderToken: 403,
  BadPath: 404,
  MethodNotAllowed: 405,
  Unregistered: 410,
  PayloadTooLarge: 413,
  TooManyProviderTokenUpdates: 429,
}
