// The public form of devices, for API answers. It never contains a whole token, because a token allows sending to the device.

import { type Static, Type } from 'typebox'
import { rfc3339 } from '../../contract/timestamp.ts'
import type { RemovalRow } from './removals/removals.ts'
import type { DeviceRow } from './tables.ts'

export const ShownDevice = Type.Object(
  {
    device: Type.String({
      description: 'SHA-256 of the token in base64url; for a Web Push subscription, of its endpoint',
    }),
    user_id: Type.String(),
    kind: Type.String(),
    token: Type.String({ description: 'The first characters of the token; for Web Push, the host of the endpoint' }),
    app: Type.Optional(Type.String()),
    environment: Type.Optional(Type.String()),
    channel: Type.String(),
    origin: Type.String(),
    linked_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'Device' },
)
export type ShownDevice = Static<typeof ShownDevice>

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

export const ShownRemoval = Type.Object(
  {
    device: Type.String(),
    user_id: Type.String(),
    kind: Type.Optional(
      Type.String({ description: 'Absent if the device was linked again since, by the same or another user' }),
    ),
    why: Type.String(),
    linked_at: Type.String({ format: 'date-time' }),
    removed_at: Type.String({ format: 'date-time' }),
    restored_at: Type.Optional(Type.String({ format: 'date-time' })),
    restorable: Type.Boolean(),
  },
  { $id: 'RemovedDevice' },
)
export type ShownRemoval = Static<typeof ShownRemoval>

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

/** The host of a Web Push endpoint, or the first characters of any other token. */
function shortened(token: string): string {
  if (token.startsWith('{') || /^https?:/i.test(token)) {
    const host = /https?:\/\/([^/"?#]+)/i.exec(token)?.[1]
    if (host !== undefined) return `${host}/…`
  }
  return `${token.slice(0, Math.min(6, token.length >> 2))}…`
}
