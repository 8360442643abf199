// The body of a send to FCM. Pure.

import { dataTexts } from '../../contract/content.ts'
import type { Failed } from '../../contract/outcome.ts'
import { collapseId } from '../collapse.ts'
import { merged } from '../merge.ts'
import { bytesOver, notValid, tooLarge } from '../push-outcomes.ts'
import type { Push } from '../push-service.ts'

const mostBytes = 4096
/** 28 days. */
const mostTtlSeconds = 2_419_200

/**
 * One message for one device. A second attempt replaces the first on the device by its tag (design §5.5). There is never a
 * `collapse_key` of its own for a message: FCM keeps only four of them per device.
 *
 * @returns the body as text, or why it must not be sent
 */
export function fcmMessage({ ref, device, content, expiresAt }: Push, now: number): { body: string } | Failed {
  const { title, body, image_url: image, url } = content
  const shows = title !== undefined || body !== undefined || image !== undefined
  const ttl = String(Math.min(mostTtlSeconds, Math.max(0, Math.floor((expiresAt - now) / 1000))))
  const data = dataTexts(content)
  if (url !== undefined) data.url = url
  data.push_id = ref
  // What is undefined is not in the JSON.
  const ours = {
    token: device.kind === 'fcm_fid' ? undefined : device.token,
    fid: device.kind === 'fcm_fid' ? device.token : undefined,
    notification: shows ? { title, body, image } : undefined,
    data,
    android: { ttl: `${ttl}s`, notification: shows ? { tag: ref } : undefined },
    // For devices that FCM reaches through Apple or a browser.
    apns: {
      headers: {
        'apns-collapse-id': collapseId(ref, 64),
        'apns-expiration': String(Math.floor(expiresAt / 1000)),
      },
      payload: image === undefined ? undefined : { aps: { 'mutable-content': 1 } },
      fcm_options: image === undefined ? undefined : { image },
    },
    webpush: {
      headers: { TTL: ttl, Topic: collapseId(ref, 32) },
      // FCM takes no other addresses here.
      fcm_options: url?.startsWith('https://') ? { link: url } : undefined,
    },
  }
  const over = content.overrides?.fcm
  const aimed = over && targets.find((target) => Object.hasOwn(over, target))
  if (aimed !== undefined)
    return notValid('fcm', `overrides.fcm may not name a target (${aimed}): the device is the message's`)
  return checked(merged(ours, over))
}

const targets = ['token', 'fid', 'topic', 'condition', 'name']

function checked(message: Readonly<Record<string, unknown>>): { body: string } | Failed {
  const { notification, data } = message
  const reserved = Object.keys((data as object | undefined) ?? {}).find((key) =>
    /^(from$|message_type$|gcm|google)/.test(key),
  )
  if (reserved !== undefined)
    return notValid('fcm', `data may not have the key ${JSON.stringify(reserved)}: FCM keeps it for itself; rename it`)
  const body = JSON.stringify({ message })
  // The limit is on what the device gets. Nearly always the whole body is below it.
  const bytes = bytesOver(mostBytes, body) && bytesOver(mostBytes, JSON.stringify({ notification, data }))
  if (bytes !== undefined) return tooLarge('fcm', bytes, mostBytes)
  return { body }
}
