// Rows of the device tables as devices, states and events. Pure.

import { justAfter } from '../../contract/timestamp.ts'
import type { Device, DeviceKind } from './device.ts'
import { channelOf, type DeviceEvent, type StampedEvent } from './device-event.ts'
import { deviceId } from './identity.ts'
import { bareLink, linked, merge, owner, type TokenState, unknown, unlinked } from './ownership.ts'
import type { RemovalRow } from './removals/removals.ts'
import type { DeviceRow, StateRow } from './tables.ts'

/** The effect of an event. none: no effect, because the same or a later event was stored before. */
export type Change = 'linked' | 'moved' | 'kept' | 'unlinked' | 'none'

/** @example deviceOf(row) // { brand: '1', userId: '1001', kind: 'apns', token: '…', … } */
export function deviceOf({
  brand,
  device,
  user_id: userId,
  kind,
  token,
  app,
  environment,
  link_at,
  unproven,
}: DeviceRow): Device {
  return {
    brand,
    userId,
    kind: kind as DeviceKind,
    token,
    id: device,
    ...(app !== '' && { app }),
    ...(environment !== '' && { environment: environment as 'production' | 'sandbox' }),
    linkedAt: link_at,
    ...(unproven === 1 && { unproven: true }),
  }
}

/** The stored state of a device: its link, and the unlinks of the linked user and of the user of the event. */
export function stateOf(
  { userId }: Pick<Device, 'userId'>,
  { link_at, linked_to, ended_at, unlinked_at }: StateRow,
): TokenState {
  const link = link_at !== null && linked_to !== null ? linked(bareLink(link_at, linked_to)) : unknown
  const ended = linked_to !== null && ended_at !== null ? merge(link, unlinked(linked_to, ended_at)) : link
  return unlinked_at !== null ? merge(ended, unlinked(userId, unlinked_at)) : ended
}

/** The effect of an event for its user. */
export function changeOf({ what, userId }: DeviceEvent, before: TokenState, after: TokenState): Change {
  const ownerBefore = owner(before)
  const ownerAfter = owner(after)
  if (what === 'unlink') return ownerBefore === userId && ownerAfter !== userId ? 'unlinked' : 'none'
  if (ownerAfter !== userId) return 'none'
  if (ownerBefore === undefined) return 'linked'
  if (ownerBefore !== userId) return 'moved'
  return before.link?.at === after.link?.at ? 'none' : 'kept'
}

/** The unlink that removeOps() writes, as an event. It is published even if the link has changed since: it then has no effect. */
export function removalEvent({ brand, userId, token, kind, app = '', environment, linkedAt }: Device): StampedEvent {
  const at = justAfter(linkedAt)
  const of = { brand, userId, id: deviceId(token), token, kind, app }
  return {
    what: 'unlink',
    ...of,
    environment: environment ?? '',
    channel: channelOf(kind),
    origin: '',
    at,
    skipPublishing: false,
  }
}

/** The link that restores a removed device. Its time is just after the removal, so any later event wins: see removeOps(). */
export function restoreEvent(row: RemovalRow): StampedEvent {
  const { brand, user_id: userId, device: id, token, app, channel, origin } = row
  return {
    what: 'link',
    brand,
    userId,
    id,
    token,
    kind: row.kind as DeviceKind,
    app,
    environment: row.environment as DeviceEvent['environment'],
    channel,
    origin,
    at: justAfter(row.at),
    skipPublishing: false,
  }
}
