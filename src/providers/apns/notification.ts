// The headers and the payload of a notification for APNs. Pure.

import { dataTexts } from '../../contract/content.ts'
import type { Failed } from '../../contract/outcome.ts'
import { collapseId } from '../collapse.ts'
import { merged } from '../merge.ts'
import { apnsHeaders, headerFault } from '../override-headers.ts'
import { bytesOver, invalidMessage, tooLarge } from '../push-outcomes.ts'
import type { Push } from '../push-service.ts'

export interface Notification {
  /** Names and values, alternating. */
  readonly headers: readonly string[]
  readonly body: string
}

const mostBytes = 4096
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * Makes one notification for one device. A second attempt has the same apns-id and replaces the first by its apns-collapse-id
 * (docs/decisions.md). Data, url, image and push_id are texts beside `aps`. `overrides.apns` is merged into the payload, and its
 * `headers` into the headers. A message without title and body becomes a background notification.
 *
 * @returns headers (without authorization) and body, or the outcome of a message that must not be sent
 */
export function apnsNotification({ ref, device, content, expiresAt }: Push, topic: string): Notification | Failed {
  const { title, body, image_url: image, url } = content
  const texts = dataTexts(content)
  if (Object.hasOwn(texts, 'aps'))
    return invalidMessage('apns', 'data may not have the key "aps": it is reserved by Apple; rename it')
  const shows = title !== undefined || body !== undefined
  if (url !== undefined) texts.url = url
  if (image !== undefined) texts.image = image
  texts.push_id = ref
  // Undefined members are left out of the JSON.
  const aps = {
    alert: shows ? { title, body } : undefined,
    'content-available': shows ? undefined : 1,
    // Allows the app's extension to fetch the image before the notification is shown.
    'mutable-content': image === undefined ? undefined : 1,
  }
  const over = content.overrides?.apns
  const fault = headerFault(over?.headers, apnsHeaders, 'overrides.apns.headers')
  if (fault !== undefined) return invalidMessage('apns', fault)
  const overrideHeaders = readHeaders(over?.headers)
  const payload = JSON.stringify(merged({ aps, ...texts }, over && payloadOf(over)))
  const bytes = bytesOver(mostBytes, payload)
  if (bytes !== undefined) return tooLarge('apns', bytes, mostBytes)
  const id = ref.toLowerCase()
  const headers = [
    'content-type',
    'application/json',
    'apns-topic',
    device.app ?? topic,
    'apns-push-type',
    overrideHeaders.get('apns-push-type') ?? (shows ? 'alert' : 'background'),
    'apns-priority',
    overrideHeaders.get('apns-priority') ?? (shows ? '10' : '5'),
    // The header is a point in time, not a time to live.
    'apns-expiration',
    overrideHeaders.get('apns-expiration') ?? String(Math.floor(expiresAt / 1000)),
    'apns-collapse-id',
    overrideHeaders.get('apns-collapse-id') ?? collapseId(ref, 64),
  ]
  if (uuid.test(id)) headers.push('apns-id', id)
  return { headers, body: payload }
}

const payloadOf = ({ headers: _, ...payload }: Readonly<Record<string, unknown>>) => payload

const none: ReadonlyMap<string, string> = new Map()

/** The override headers by their names in lower case, because HTTP ignores case. */
function readHeaders(headers: unknown): ReadonlyMap<string, string> {
  if (headers === undefined || headers === null) return none
  return new Map(Object.entries(headers as Record<string, string>).map(([name, value]) => [name.toLowerCase(), value]))
}
