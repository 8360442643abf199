// §4 and §5 as data: where each side is called, and under which names things travel.

/** push: native push; site: on-site notifications. */
export type Channel = 'push' | 'site'
export type Mode = 'single' | 'batch'

export const channels: readonly Channel[] = ['push', 'site']

export function isChannel(value: unknown): value is Channel {
  return value === 'push' || value === 'site'
}

/** §2.2, §2.4: the name of the identifier that the operator's API generates for each message. */
export const identifierOf = { push: 'push_id', site: 'site_notification_id' } as const satisfies Record<Channel, string>

export interface Endpoint {
  readonly method: 'POST'
  readonly path: string
  /** The paragraph of the interface. */
  readonly section: string
  readonly purpose: string
}

export interface SendEndpoint extends Endpoint {
  readonly channel: Channel
  readonly mode: Mode
}

/** §4.1, hosted by the operator at {base_url}. */
export const sendEndpoints: readonly SendEndpoint[] = [
  {
    method: 'POST',
    path: '/channels/push/single',
    section: '§4.1',
    channel: 'push',
    mode: 'single',
    purpose: 'Send one push notification',
  },
  {
    method: 'POST',
    path: '/channels/push/batch',
    section: '§4.1',
    channel: 'push',
    mode: 'batch',
    purpose: 'Send push notifications',
  },
  {
    method: 'POST',
    path: '/channels/site/single',
    section: '§4.1',
    channel: 'site',
    mode: 'single',
    purpose: 'Send one on-site notification',
  },
  {
    method: 'POST',
    path: '/channels/site/batch',
    section: '§4.1',
    channel: 'site',
    mode: 'batch',
    purpose: 'Send on-site notifications',
  },
]

/** @example sendPaths.push.batch // '/channels/push/batch' */
export const sendPaths = {
  push: { single: '/channels/push/single', batch: '/channels/push/batch' },
  site: { single: '/channels/site/single', batch: '/channels/site/batch' },
} as const satisfies Record<Channel, Record<Mode, string>>

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

/** §4.3: the same two as messages: a property `type` on the broker, a header `type` on the streaming platform. */
export const deviceMessageType = { link: 'USER_DEVICE_LINK', unlink: 'USER_DEVICE_UNLINK' } as const
export const deviceMessageTypeName = 'type'

/** §5.1. Lower case, as node:http gives names; names of headers have no case. */
export const apiKeyHeader = 'x-api-key'
/** When to come again, in answers of 503 (row 13). */
export const retryAfterHeader = 'retry-after'

/** Sent by platforms beside the record, kept with the message and given back as part of `meta` (row 25). */
export const trackingHeaders = [
  'x-fasttrack-id',
  'x-fasttrack-triggerhash',
  'x-fasttrack-activityid',
  'x-fasttrack-actionid',
  'x-fasttrack-actiongroupid',
  'x-fasttrack-actioncommunicationprofileid',
] as const
