// The headers and the payload of a notification for APNs. Pure.

import { dataTexts } from '../../../contract/content.ts'
import type { Failed } from '../../../contract/outcome.ts'
import { applePart } from '../apple-part.ts'
import { merged, withoutHeaders } from '../merge.ts'
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
 * (docs/contributing/decisions.md). Data, url, image and push_id are texts beside `aps`. `overrides.apns` is merged into the payload, and its
 * `headers` into the headers. A message without title and body becomes a background notification.
 *
 * @returns headers (without authorization) and body, or the outcome of a message that must not be sent
 */
export function apnsNotification(push: Push, topic: string): Notification | Failed {
  const { ref, device, content } = push
  const { title, body, image_url: image, url } = content
  const texts = dataTexts(content)
  if (Object.hasOwn(texts, 'aps'))
    return invalidMessage('apns', 'data may not have the key "aps": it is reserved by Apple; rename it')
  const over = content.overrides?.apns
  const shows = title !== undefined || body !== undefined
  const part = applePart(push, shows, { aps: over?.aps, headers: over?.headers, at: 'overrides.apns' })
  if (typeof part === 'string') return invalidMessage('apns', part)
  if (url !== undefined) texts.url = url
  if (image !== undefined) texts.image = image
  texts.push_id = ref
  // Undefined members are left out of the JSON.
  const aps = { alert: shows ? { title, body } : undefined, ...part.aps }
  const payload = JSON.stringify(merged({ aps, ...texts }, over && withoutHeaders(over)))
  const bytes = bytesOver(mostBytes, payload)
  if (bytes !== undefined) return tooLarge('apns', bytes, mostBytes)
  const headers = ['content-type', 'application/json', 'apns-topic', device.app ?? topic]
  for (const [name, value] of Object.entries(part.headers)) headers.push(name, value)
  const id = ref.toLowerCase()
  if (uuid.test(id)) headers.push('apns-id', id)
  return { headers, body: payload }
}
