// The headers and the payload of a notification for APNs. Pure.

import { dataTexts } from '../../contract/content.ts'
import type { Failed } from '../../contract/outcome.ts'
import { collapseId } from '../collapse.ts'
import { isObject, merged } from '../merge.ts'
import { notValid, tooLarge } from '../push-outcomes.ts'
import type { Push } from '../push-service.ts'

export interface Notification {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const mostBytes = 4096
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** What overrides.apns.headers may say. The others belong to the message or the credential. */
const freeHeaders = ['apns-priority', 'apns-push-type']

/**
 * One notification for one device. A second attempt has the same apns-id and replaces the first by its apns-collapse-id (design
 * §5.5). Data, url, image and push_id stand beside `aps`, as texts; `overrides.apns` is merged into the payload, its `headers`
 * into the headers. What has no text is a background notification.
 *
 * @returns headers (but for authorization) and body, or why it must not be sent
 */
export function apnsNotification({ ref, device, content, expiresAt }: Push, topic: string): Notification | Failed {
  const { title, body, image_url: image, url } = content
  const texts = dataTexts(content)
  if (Object.hasOwn(texts, 'aps')) return notValid('apns', 'data may not have the key "aps": it is Apple\'s; rename it')
  const shows = title !== undefined || body !== undefined
  if (url !== undefined) texts.url = url
  if (image !== undefined) texts.image = image
  texts.push_id = ref
  // What is undefined is not in the JSON.
  const aps = {
    alert: shows ? { title, body } : undefined,
    'content-available': shows ? undefined : 1,
    // The app's extension may fetch the picture before it is shown.
    'mutable-content': image === undefined ? undefined : 1,
  }
  const { headers: over = {}, ...payloadOver } = content.overrides?.apns ?? {}
  const may = ([header, value]: readonly [string, unknown]): boolean =>
    freeHeaders.includes(header) && typeof value === 'string'
  if (!isObject(over) || !Object.entries(over).every(may))
    return notValid('apns', `overrides.apns.headers may have only ${freeHeaders.join(' and ')}, as texts`)
  const payload = JSON.stringify(merged({ aps, ...texts }, content.overrides?.apns && payloadOver))
  const bytes = Buffer.byteLength(payload)
  if (bytes > mostBytes) return tooLarge('apns', bytes, mostBytes)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'apns-topic': device.app ?? topic,
    'apns-collapse-id': collapseId(ref, 64),
    'apns-push-type': shows ? 'alert' : 'background',
    'apns-priority': shows ? '10' : '5',
    // A moment, not a time to live.
    'apns-expiration': String(Math.floor(expiresAt / 1000)),
  }
  if (uuid.test(ref)) headers['apns-id'] = ref.toLowerCase()
  return { headers: Object.assign(headers, over), body: payload }
}
