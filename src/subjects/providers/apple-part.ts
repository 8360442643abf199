// The part of a message that an Apple device reads. APNs and FCM send it alike. Pure.

import { collapseId } from './collapse.ts'
import { isObject } from './merge.ts'
import { apnsHeaders, headerFault } from './override-headers.ts'
import type { Push } from './push-service.ts'

type Json = Readonly<Record<string, unknown>>

export interface AppleOverrides {
  /** `aps` and `headers` of the overrides. */
  readonly aps: unknown
  readonly headers: unknown
  /** The position of the overrides, for errors: overrides.apns. */
  readonly at: string
}

export interface ApplePart {
  /** Names in lower case. The headers of the overrides are included. */
  readonly headers: Readonly<Record<string, string>>
  /** `aps` without `alert` and without the overrides. */
  readonly aps: Json
}

/** @returns the part, or the fault of the overrides */
export function applePart(
  { ref, content, expiresAt, presentation = {} }: Push,
  hasText: boolean,
  { aps: overAps, headers, at }: AppleOverrides,
): ApplePart | string {
  const fault = headerFault(headers, apnsHeaders, `${at}.headers`)
  if (fault !== undefined) return fault
  const over = isObject(overAps) ? overAps : {}
  const alerts = over.alert === undefined ? hasText : over.alert !== null
  const visible = alerts || isPresent(over.badge) || isPresent(over.sound)
  const all: Record<string, string> = {
    'apns-push-type': visible ? 'alert' : 'background',
    // The header is a point in time, not a time to live.
    'apns-expiration': String(Math.floor(expiresAt / 1000)),
    'apns-collapse-id': collapseId(ref, 64),
  }
  // HTTP ignores the case of names. null stands for our own value.
  for (const [name, value] of Object.entries(headers ?? {}))
    if (value !== null) all[name.toLowerCase()] = value as string
  const background = all['apns-push-type'] === 'background'
  all['apns-priority'] ??= background ? '5' : '10'
  // Apple refuses or ignores such a notification.
  if (background && visible)
    return `${at}.headers.apns-push-type is "background", which shows nothing: remove it, or the text, badge and sound`
  if (background && all['apns-priority'] === '10')
    return `${at}.headers.apns-priority is "10", which Apple refuses for background notifications: use 5 or 1`
  return { headers: all, aps: apsOf() }

  function apsOf(): Json {
    if (!alerts) return background ? { 'content-available': 1 } : {}
    const { sound = 'default', badge, category, interruptionLevel } = presentation
    // Undefined members are left out of the JSON.
    return {
      sound: sound === 'none' ? undefined : sound,
      badge,
      category,
      'interruption-level': interruptionLevel,
      // Allows the app's extension to fetch the image before the notification is shown.
      'mutable-content': content.image_url === undefined ? undefined : 1,
    }
  }
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null
