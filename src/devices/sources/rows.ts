// Devices as an operator's own database, endpoint or function tells of them, made into ours.

import { emit } from '../../runtime/events.ts'
import type { Device } from '../device.ts'
import { describe } from '../device-event.ts'
import type { Holder } from '../device-source.ts'
import { deviceId } from '../identity.ts'
import { readTimestamp, timestampOf } from '../timestamp.ts'

/**
 * What is asked of a source: for each device its user, its token, and either `kind` (fcm_token, fcm_fid, apns, webpush,
 * http:NAME) or the `provider` of row 18. Null is as good as left out.
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

/** The devices of the users that were asked about. */
export function devicesFrom(
  source: string,
  brand: string,
  userIds: readonly string[],
  rows: Iterable<unknown>,
): ReadonlyMap<string, readonly Device[]> {
  const asked = new Set(userIds)
  const found = new Map<string, Device[]>()
  for (const row of rows) {
    const device = deviceFrom(source, brand, recordFrom(source, row))
    if (!device || !asked.has(device.userId)) continue
    const mine = found.get(device.userId)
    if (mine) mine.push(device)
    else found.set(device.userId, [device])
  }
  return found
}

/** Whose the tokens are that were asked about; a row without a user says that its token is nobody's. */
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
      // One that cannot be read is somebody's all the same: it must not be taken for a token that was never seen.
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

/** @throws where a whole column is missing: that is the query's fault, not the row's */
function recordFrom(source: string, row: unknown): DeviceRecord {
  if (typeof row !== 'object' || row === null) throw new Error(`${source}: a device is not an object`)
  for (const name of ['user_id', 'token'])
    if (!(name in row)) throw new Error(`${source}: a device has no ${name}: name it so, as in select id as ${name}`)
  if (!('kind' in row) && !('provider' in row))
    throw new Error(`${source}: a device has neither kind nor provider: add one, as in select 'fcm_token' as kind`)
  return row as DeviceRecord
}

/** Undefined: this one row cannot be read. It is told, and the others go on. */
function deviceFrom(source: string, brand: string, record: DeviceRecord): Device | undefined {
  const { user_id, token, kind, provider, app, environment, linked_at } = record
  const userId = typeof user_id === 'number' || typeof user_id === 'bigint' ? String(user_id) : user_id
  const refuse = (error: string): undefined => void emit('device.unreadable', { source, brand, error })
  if (typeof userId !== 'string' || userId === '') return refuse('user_id is not a text')
  if (typeof token !== 'string' || token === '') return refuse('token is not a text')
  const named = isAbsent(kind) ? provider : kind
  if (typeof named !== 'string') return refuse('kind is not a text')
  const firebase = named === 'fcm_token' || named === 'fcm_fid'
  const described = describe(
    {
      token,
      provider: firebase ? 'firebase' : named,
      ...(firebase && { kind: named }),
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

/** Before all time where it is not known: nothing is then thought to have happened before it. */
function timeOf(value: unknown): string {
  if (value instanceof Date) return timestampOf(value.getTime())
  return (typeof value === 'string' && readTimestamp(value)) || ''
}

const isAbsent = (value: unknown): boolean => value === null || value === undefined || value === ''
