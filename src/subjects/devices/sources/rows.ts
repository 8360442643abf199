// Converts the devices that an operator's own database, endpoint or function returns to our type.

import { emit } from '../../../base/runtime/events.ts'
import { readTimestamp, timestampOf } from '../../../contract/timestamp.ts'
import type { Device } from '../device.ts'
import { describe } from '../device-event.ts'
import type { Holder } from '../device-source.ts'
import { deviceId } from '../identity.ts'

/**
 * A device as a source returns it: its user, its token, and either `kind` (fcm_token, fcm_fid, apns, webpush, http:NAME) or the
 * `provider` of row 18. Null means the same as absent.
 */
export interface DeviceRecord {
  readonly user_id: unknown
  readonly token: unknown
  readonly kind?: unknown
  readonly provider?: unknown
  readonly app?: unknown
  readonly environment?: unknown
  /** RFC 3339, or a Date. */
  readonly linked_at?: unknown
}

/** Returns the devices of the requested users. Rows of other users are ignored. */
export function devicesFrom(
  source: string,
  brand: string,
  userIds: readonly string[],
  rows: Iterable<unknown>,
): ReadonlyMap<string, readonly Device[]> {
  const asked = new Set(userIds)
  const devices = Array.from(rows).flatMap((row) => deviceFrom(source, brand, recordFrom(source, row)) ?? [])
  return Map.groupBy(
    devices.filter(({ userId }) => asked.has(userId)),
    ({ userId }) => userId,
  )
}

/** Returns the holders of the requested tokens. A row without a user means that its token belongs to nobody. */
export function holdersFrom(
  source: string,
  brand: string,
  tokens: readonly string[],
  rows: Iterable<unknown>,
): ReadonlyMap<string, Holder> {
  const known = new Map<string, Holder>()
  for (const row of rows) {
    const record = recordFrom(source, row)
    if (typeof record.token !== 'string') continue
    const id = deviceId(record.token)
    if (isAbsent(record.user_id)) known.set(id, known.get(id) ?? 'nobody')
    else {
      const device = deviceFrom(source, brand, record)
      // An unreadable device is known all the same: its token must not count as one that was never seen.
      known.set(id, device ?? known.get(id) ?? 'nobody')
    }
  }
  const found = new Map<string, Holder>()
  for (const token of tokens) {
    const holder = known.get(deviceId(token))
    if (holder !== undefined) found.set(token, holder)
  }
  return found
}

/** @throws if a column is missing: the fault is in the query, not in one row */
function recordFrom(source: string, row: unknown): DeviceRecord {
  if (typeof row !== 'object' || row === null) throw new Error(`${source} returned a device that is not an object`)
  for (const name of ['user_id', 'token'])
    if (!(name in row))
      throw new Error(`${source} returned a device without ${name}: add the column, as in select id as ${name}`)
  if (!('kind' in row) && !('provider' in row))
    throw new Error(
      `${source} returned a device with neither kind nor provider: add one, as in select 'fcm_token' as kind`,
    )
  return row as DeviceRecord
}

/** Returns undefined for an unreadable row, after an event `device.unreadable`; the other rows are used. */
function deviceFrom(source: string, brand: string, record: DeviceRecord): Device | undefined {
  const { user_id, token, kind, provider, app, environment, linked_at } = record
  const userId = typeof user_id === 'number' || typeof user_id === 'bigint' ? String(user_id) : user_id
  const refuse = (error: string): undefined => void emit('device.unreadable', { source, brand, error })
  if (typeof userId !== 'string' || userId === '') return refuse('user_id is empty or not a string')
  if (typeof token !== 'string' || token === '') return refuse('token is empty or not a string')
  const kindOrProvider = isAbsent(kind) ? provider : kind
  if (typeof kindOrProvider !== 'string') return refuse('kind is not a string')
  const firebase = kindOrProvider === 'fcm_token' || kindOrProvider === 'fcm_fid'
  const described = describe(
    {
      token,
      provider: firebase ? 'firebase' : kindOrProvider,
      ...(firebase && { kind: kindOrProvider }),
      ...(typeof app === 'string' && { app }),
      ...(typeof environment === 'string' && { environment }),
    },
    'link',
  )
  if ('invalid' in described) return refuse(described.invalid.slice(1))
  return {
    brand,
    userId,
    kind: described.kind,
    token: described.token,
    ...(described.app !== '' && { app: described.app }),
    ...(described.environment !== '' && { environment: described.environment }),
    linkedAt: timeOf(linked_at),
  }
}

/** The time of the link. If unknown, the empty string, which sorts before every time. */
function timeOf(value: unknown): string {
  if (value instanceof Date) return timestampOf(value.getTime())
  return (typeof value === 'string' && readTimestamp(value)) || ''
}

const isAbsent = (value: unknown): boolean => value === null || value === undefined || value === ''
