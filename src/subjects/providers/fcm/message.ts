// The body of a send to FCM. Pure.

import { dataTexts } from '../../../contract/content.ts'
import type { Failed } from '../../../contract/outcome.ts'
import { applePart } from '../apple-part.ts'
import { collapseId } from '../collapse.ts'
import { isObject, merged, withoutHeaders } from '../merge.ts'
import { headerFault, webPushHeaders } from '../override-headers.ts'
import type { Presentation } from '../presentation.ts'
import { bytesOver, invalidMessage, tooLarge } from '../push-outcomes.ts'
import type { Push } from '../push-service.ts'

const mostBytes = 4096
/** FCM limits the part that the device receives. This limit is for the whole message. */
const mostBodyBytes = 32 * 1024
/** 28 days. */
const mostTtlSeconds = 2_419_200

/**
 * Makes the message for one device. A second attempt replaces the first on the device by its tag (docs/contributing/decisions.md). Messages have no
 * `collapse_key` of their own, because FCM stores only four per device.
 *
 * @returns the body as text, or the outcome of a message that must not be sent
 */
export function fcmMessage(push: Push, now: number): { body: string } | Failed {
  const { ref, device, content, expiresAt, presentation = {} } = push
  const { title, body, image_url: image, url } = content
  const over = content.overrides?.fcm
  const target = over && targets.find((name) => Object.hasOwn(over, name))
  if (target !== undefined)
    return invalidMessage('fcm', `overrides.fcm may not set ${target}: the target is the user's device`)
  const fault = over && faultOf(over)
  if (fault !== undefined) return invalidMessage('fcm', fault)
  // An image alone is not shown: APNs cannot show it either.
  const hasText = title !== undefined || body !== undefined
  const shows = over?.notification === undefined ? hasText : over.notification !== null
  const overApns = isObject(over?.apns) ? over.apns : undefined
  const overAps = isObject(overApns?.payload) ? overApns.payload.aps : undefined
  const apple = applePart(push, shows, { aps: overAps, headers: overApns?.headers, at: 'overrides.fcm.apns' })
  if (typeof apple === 'string') return invalidMessage('fcm', apple)
  const ttl = String(Math.min(mostTtlSeconds, Math.max(0, Math.floor((expiresAt - now) / 1000))))
  const data = dataTexts(content)
  if (url !== undefined) data.url = url
  data.push_id = ref
  // Undefined members are left out of the JSON.
  const ours = {
    token: device.kind === 'fcm_fid' ? undefined : device.token,
    fid: device.kind === 'fcm_fid' ? device.token : undefined,
    notification: hasText ? { title, body, image } : undefined,
    data,
    android: {
      ttl: `${ttl}s`,
      priority: presentation.androidPriority?.toUpperCase() ?? (shows ? 'HIGH' : undefined),
      notification: shows ? androidNotification(ref, presentation) : undefined,
    },
    // For devices that FCM reaches through Apple or a browser.
    apns: {
      headers: apple.headers,
      payload: { aps: apple.aps, image },
      fcm_options: image === undefined ? undefined : { image },
    },
    webpush: {
      headers: { TTL: ttl, Topic: collapseId(ref, 32) },
      // FCM accepts only https links here.
      fcm_options: url?.startsWith('https://') ? { link: url } : undefined,
    },
  }
  return checked(merged(ours, overApns ? { ...over, apns: withoutHeaders(overApns) } : over))
}

function androidNotification(tag: string, { sound = 'default', badge, androidChannel, icon }: Presentation) {
  return {
    tag,
    // A sound of Android is a resource, whose name has no extension.
    sound: sound === 'none' ? undefined : sound.replace(/\.[^.]*$/, ''),
    notification_count: badge,
    channel_id: androidChannel,
    icon,
  }
}

/** Validates values that FCM passes on to others: their refusal would look like a wrong key. FCM validates the rest. */
function faultOf({ android, webpush }: Readonly<Record<string, unknown>>): string | undefined {
  const { ttl, priority } = isObject(android) ? android : {}
  if (has(ttl) && !(typeof ttl === 'string' && /^\d{1,7}(\.\d{1,9})?s$/.test(ttl)))
    return 'overrides.fcm.android.ttl must be seconds such as "3600s"'
  if (has(priority) && !(typeof priority === 'string' && /^(normal|high)$/i.test(priority)))
    return 'overrides.fcm.android.priority must be NORMAL or HIGH'
  return headerFault(isObject(webpush) ? webpush.headers : undefined, webPushHeaders, 'overrides.fcm.webpush.headers')
}

const has = (value: unknown): boolean => value !== undefined && value !== null

const targets = ['token', 'fid', 'topic', 'condition', 'name']

function checked(message: Readonly<Record<string, unknown>>): { body: string } | Failed {
  const { notification, data } = message
  const reserved = Object.keys((data as object | undefined) ?? {}).find((key) =>
    /^(from$|message_type$|gcm|google)/.test(key),
  )
  if (reserved !== undefined)
    return invalidMessage(
      'fcm',
      `data may not have the key ${JSON.stringify(reserved)}: it is reserved by FCM; rename it`,
    )
  const body = JSON.stringify({ message })
  // The limit applies to the part that the device receives. In most messages even the whole body is below it.
  const bytes = bytesOver(mostBytes, body) && bytesOver(mostBytes, JSON.stringify({ notification, data }))
  if (bytes !== undefined) return tooLarge('fcm', bytes, mostBytes)
  const bodyBytes = bytesOver(mostBodyBytes, body)
  if (bodyBytes !== undefined) return tooLarge('fcm', bodyBytes, mostBodyBytes)
  return { body }
}
