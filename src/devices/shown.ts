// Devices as people and programs get to see them: never with a whole token, which is as good as a key to somebody's screen.

import type { RemovalRow } from './removals.ts'
import type { DeviceRow } from './tables.ts'
import { rfc3339 } from './timestamp.ts'

export interface ShownDevice {
  /** SHA-256 of the token in base64url (of a Web Push subscription: of its endpoint). */
  readonly device: string
  readonly user_id: string
  readonly kind: string
  /** Enough to recognize it by. */
  readonly token: string
  readonly app?: string
  readonly environment?: string
  readonly channel: string
  readonly origin: string
  readonly linked_at: string
}

export function shownDevice(row: DeviceRow): ShownDevice {
  const { device, user_id, kind, token, app, environment, channel, origin, link_at } = row
  return {
    device,
    user_id,
    kind,
    token: shortened(token),
    ...(app !== '' && { app }),
    ...(environment !== '' && { environment }),
    channel,
    origin,
    linked_at: rfc3339(link_at),
  }
}

export interface ShownRemoval {
  readonly device: string
  readonly user_id: string
  /** Absent where the device is another user's by now, or was linked again. */
  readonly kind?: string
  readonly why: string
  readonly linked_at: string
  readonly removed_at: string
  readonly restored_at?: string
  readonly restorable: boolean
}

export function shownRemoval(row: RemovalRow): ShownRemoval {
  const { device, user_id, kind, why, link_at, removed_at, restored_at, restorable } = row
  return {
    device,
    user_id,
    ...(kind !== null && { kind }),
    why,
    linked_at: rfc3339(link_at),
    removed_at: new Date(removed_at).toISOString(),
    ...(restored_at !== null && { restored_at: new Date(restored_at).toISOString() }),
    restorable: restorable === 1,
  }
}

/** The host of a browser's push service, else the first characters. */
function shortened(token: string): string {
  if (token.startsWith('{') || /^https?:/i.test(token)) {
    const host = /https?:\/\/([^/"?#]+)/i.exec(token)?.[1]
    if (host !== undefined) return `${host}/…`
  }
  return `${token.slice(0, Math.min(6, token.length >> 2))}…`
}
