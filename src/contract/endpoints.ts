// §4 and §5 as data: the endpoints of each side, and the names of headers and message types.

/** push: native push; site: on-site notifications. */
export type Channel = 'push' | 'site'
export type Mode = 'single' | 'batch'

export const channels: readonly Channel[] = ['push', 'site']

export function isChannel(value: unknown): value is Channel {
  return value === 'push' || value === 'site'
}

/** §2.2, §2.4: the name of the identifier that the operator generates for each message. */
export const identifierOf = { push: 'push_id', site: 'site_notification_id' } as const satisfies Record<Channel, string>

export interface Endpoint {
  readonly method: 'POST'
  readonly path: string
  /** The section of the interface. */
  readonly section: string
  readonly purpose: string
}

export interface SendEndpoint extends Endpoint {
  readonly channel: Channel
  readonly mode: Mode
}

/** @example sendPaths.push.batch // '/channels/push/batch' */
export const sendPaths = {
  push: { single: '/channels/push/single', batch: '/channels/push/batch' },
  site: { single: '/channels/site/single', batch: '/channels/site/batch' },
} as const satisfies Record<Channel, Record<Mode, string>>

const sendTo = (channel: Channel, mode: Mode, purpose: string): SendEndpoint => ({
  method: 'POST',
  path: sendPaths[channel][mode],
  section: '§4.1',
  channel,
  mode,
  purpose,
})

/** §4.1, hosted by the operator at {base_url}. */
export const sendEndpoints: readonly SendEndpoint[] = [
  sendTo('push', 'single', 'Send one push notification'),
  sendTo('push', 'batch', 'Send push notifications'),
  sendTo('site', 'single', 'Send one on-site notification'),
  sendTo('site', 'batch', 'Send on-site notifications'),
]

/** §4.1, hosted by the operator. */
export const reconciliation: Endpoint = {
  method: 'POST',
  path: '/reconciliation',
  section: '§4.1',
  purpose: 'List the users for whom an attribute is true',
}

/** §4.2, hosted by the platform at {platform_url}. */
export const deviceLink: Endpoint = {
  method: 'POST',
  path: '/v1/integration/user/device/link',
  section: '§4.2',
  purpose: 'Tell the platform that a device token is linked to a user',
}
export const deviceUnlink: Endpoint = {
  method: 'POST',
  path: '/v1/integration/user/device/unlink',
  section: '§4.2',
  purpose: 'Tell the platform that a device token is unlinked from a user',
}

/** Row 24, hosted by the platform: the operator reports the statuses of messages. */
export const messageStatusPath = '/v1/integration/message/status'
/** Row 24, hosted by the operator: the platform reads the statuses of messages, page by page. */
export const statusPagePath = '/messages/status'

/** §4.3: the types of link and unlink messages, in the property `type` on AMQP and in the header `type` on Kafka. */
export const deviceMessageType = { link: 'USER_DEVICE_LINK', unlink: 'USER_DEVICE_UNLINK' } as const
export const deviceMessageTypeName = 'type'

/** §5.1. In lower case, like all header names in node:http. */
export const apiKeyHeader = 'x-api-key'

/** The headers with an API key. Without one, another authentication is used. */
export const apiKeyHeaders = (key: string | undefined): Readonly<Record<string, string>> =>
  key === undefined ? {} : { [apiKeyHeader]: key }
/** The time until a retry, in answers with status 503 (row 13). */
export const retryAfterHeader = 'retry-after'

/** Headers that platforms send in addition to the record. They are stored with the message and returned in `meta` (row 25). */
export const trackingHeaders = [
  'x-fasttrack-id',
  'x-fasttrack-triggerhash',
  'x-fasttrack-activityid',
  'x-fasttrack-actionid',
  'x-fasttrack-actiongroupid',
  'x-fasttrack-actioncommunicationprofileid',
] as const
