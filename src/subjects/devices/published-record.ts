import type { DeviceEventRecord, DeviceTokenRecord } from '../../contract/device-events.ts'
import { rfc3339 } from '../../contract/timestamp.ts'
import type { DeviceKind } from './device.ts'
import type { StampedEvent } from './device-event.ts'

/**
 * The record that is published for an event (row 18), with one token: "the token just linked, or only the one being removed".
 * The origin is ours, never that of the event, because a platform may use it to determine the brand (row 21).
 */
export function publishedRecord(event: StampedEvent, origin = 'bellwire'): DeviceEventRecord {
  const { userId, token, kind, app, environment, channel, at } = event
  const one = {
    token,
    channel: channel as DeviceTokenRecord['channel'],
    ...providerOf(kind),
    ...(environment !== '' && { environment }),
    ...(app !== '' && { app }),
  }
  return { user_id: userId, tokens: [one], timestamp: rfc3339(at), origin }
}

/** The inverse of describe() in device-event.ts. `kind` is present only if the provider does not imply it. */
export function providerOf(kind: DeviceKind): { readonly provider: string; readonly kind?: 'fcm_fid' } {
  if (kind === 'fcm_token') return { provider: 'firebase' }
  if (kind === 'fcm_fid') return { provider: 'firebase', kind }
  return { provider: kind }
}
