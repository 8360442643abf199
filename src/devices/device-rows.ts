// Rows of the device tables as devices, states and events. Pure.

import type { Device, DeviceKind } from './device.ts'
import { channelOf, type DeviceEvent, type StampedEvent } from './device-event.ts'
import { deviceId } from './identity.ts'
import { bareLink, linked, merge, owner, type TokenState, unknown, unlinked } from './ownership.ts'
import type { RemovalRow } from './removals.ts'
import type { DeviceRow, StateRow } from './tables.ts'
import { justAfter } from './timestamp.ts'

/** The effect of an event. none: a later event was stored before, or the same one. */
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
  }
}

/** The state of a device for one user, from its row. */
export function stateOf(
  { userId }: Pick<Device, 'userId'>,
  { link_at, linked_to, ended_at, unlinked_at }: StateRow,
): TokenState {
  const link = link_at !== null && linked_to !== null ? linked(bareLink(link_at, linked_to)) : unknown
  const ended = linked_to !== null && ended_at !== null ? merge(link, unlinked(linked_to, ended_at)) : link
  return unlinked_at !== null ? merge(ended, unlinked(userId, unlinked_at)) : ended
}

/** The change that an event made for its user. */
export function changeOf({ what, userId }: DeviceEvent, before: TokenState, after: TokenState): Change {
  const was = owner(before)
  const is = owner(after)
  if (what === 'unlink') return was === userId && is !== userId ? 'unlinked' : 'none'
  if (is !== userId) return 'none'
  if (was === undefined) return 'linked'
  if (was !== userId) return 'moved'
  return before.link?.at === after.link?.at ? 'none' : 'kept'
}

/**
 * The unlink that removeOps() writes, as an event. It is published even if the device was linked again since: then it changes
 * nothing (row 20).
 */
export function unlinkOf({ brand, userId, token, kind, app = '', environment, linkedAt }: Device): StampedEvent {
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

/** The link that restores a removed device: just after the removal, and before any later event. */
export function linkAgain(row: RemovalRow): StampedEvent {
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
