// Removals: devices that were unlinked because a provider proved them dead. Each is kept for 30
// days with its reason and time, so that a mistaken removal can be reversed.

import type { Migration, Op, Value } from '../../../base/store/database.ts'
import { op, rows, statement } from '../../../base/store/statement.ts'
import { justAfter, type Timestamp } from '../../../contract/timestamp.ts'
import type { Device } from '../device.ts'
import { deviceId } from '../identity.ts'
import type { DeviceRow } from '../tables.ts'
import { erasedDevice, unlinkRow, writeUnlinks } from '../tables.ts'

export const removalTables: Migration = {
  name: 'devices/2',
  statements: ({ key }) => [
    `create table device_removals (
       brand ${key} not null, device ${key} not null, user_id ${key} not null, link_at ${key} not null, at ${key} not null,
       why text not null, removed_at bigint not null, restored_at bigint,
       primary key (brand, device, user_id, at))`,
    // The time comes before the brand for the same reason as in devices_user in tables.ts.
    'create index device_removals_removed_at on device_removals (removed_at, brand)',
  ],
  brandTables: [{ table: 'device_removals', brand: 'brand' }],
}

/**
 * Returns the operations that remove these devices, each only if its link has not changed since it was read.
 *
 * The time of the unlink is just after that of the link, not now, so the unlink ends that link and no other. A link made since
 * is later, on both sides and in whatever order the two arrive. For the same reason a restored link is just after its removal:
 * every change made in between wins.
 */
export function removeOps(devices: readonly Device[], why: string, now: number): readonly Op[] {
  const unlinks: Value[][] = []
  const removals: Value[][] = []
  for (const { brand, userId, token, linkedAt } of devices) {
    const id = deviceId(token)
    const at = justAfter(linkedAt)
    unlinks.push(unlinkRow({ brand, id, userId, at }, now))
    removals.push([brand, id, userId, linkedAt, at, why, now])
  }
  return [op(writeUnlinks, unlinks), op(insertRemovals, removals)]
}

const insertRemovals = statement('insert_device_removals', {
  brand: 'text',
  device: 'text',
  user_id: 'text',
  link_at: 'text',
  at: 'text',
  why: 'text',
  removed_at: 'bigint',
})`
  insert into device_removals (brand, device, user_id, link_at, at, why, removed_at)
  select r.brand, r.device, r.user_id, r.link_at, r.at, r.why, r.removed_at from ${rows} r
  join device_unlinks u on u.brand = r.brand and u.device = r.device and u.user_id = r.user_id and u.at = r.at
  where (select d.link_at from devices d where d.brand = r.brand and d.device = r.device) = r.link_at
  on conflict (brand, device, user_id, at) do nothing`

/** Selects removals that match all given members. Times are epoch milliseconds, both inclusive. */
export interface RemovalFilter {
  readonly brand: string
  readonly userId?: string
  /** The exact reason that was recorded with the removal. */
  readonly why?: string
  readonly since?: number
  readonly until?: number
  /** Only removals that can be restored. */
  readonly restorable?: boolean
}

export interface RemovalRow extends Omit<DeviceRow, 'unproven'> {
  /** The time of the unlink. */
  readonly at: Timestamp
  readonly why: string
  readonly removed_at: number
  readonly restored_at: number | null
  /** 1: the device belongs to nobody because of this removal, so it can be restored. */
  readonly restorable: number
}

/** The last removal of the previous page. */
export type RemovalCursor = Pick<RemovalRow, 'removed_at' | 'device' | 'at'>

/** Reads a page of removals, the oldest first. */
export function listRemovals(filter: RemovalFilter, limit: number, after?: RemovalCursor): Op<RemovalRow> {
  const { brand, userId = null, why = null, since = 0, until = Number.MAX_SAFE_INTEGER, restorable } = filter
  const from = after ?? { removed_at: -1, device: '', at: '' }
  return op(selectRemovals, [
    [brand, userId, why, since, until, restorable ? 1 : 0, from.removed_at, from.device, from.at, limit],
  ])
}

const selectRemovals = statement<RemovalRow>('select_device_removals', {
  brand: 'text',
  user_id: 'text',
  why: 'text',
  since: 'bigint',
  until: 'bigint',
  restorable: 'bigint',
  from_removed_at: 'bigint',
  from_device: 'text',
  from_at: 'text',
  most: 'bigint',
})`
  select m.brand, m.device, m.user_id, m.link_at, m.at, m.why, m.removed_at, m.restored_at,
    d.token, d.kind, d.app, d.environment, d.channel, d.origin,
    case when u.at is not null and d.user_id = m.user_id and d.token <> '' then 1 else 0 end as restorable
  from ${rows} r
  join device_removals m on m.brand = r.brand and m.removed_at >= r.since and m.removed_at <= r.until
    and (m.removed_at, m.device, m.at) > (r.from_removed_at, r.from_device, r.from_at)
    and (r.user_id is null or m.user_id = r.user_id) and (r.why is null or m.why = r.why)
  left join devices d on d.brand = m.brand and d.device = m.device and d.link_at = m.link_at
  left join device_unlinks u on u.brand = m.brand and u.device = m.device and u.user_id = m.user_id and u.at = m.at
  where r.restorable = 0 or (u.at is not null and d.user_id = m.user_id and d.token <> '')
  order by m.removed_at, m.device, m.at limit (select max(x.most) from ${rows} x)`

/** Marks removals as restored; to be committed with the links that restore them. */
export function restoredOp(rows: readonly RemovalRow[], now: number): Op {
  return op(updateRestored, rows, (row) => [row.brand, row.device, row.user_id, row.at, now])
}

const updateRestored = statement({
  name: 'update_restored_removals',
  columns: { brand: 'text', device: 'text', user_id: 'text', at: 'text', now: 'bigint' },
  text: (rows) => `
    update device_removals set restored_at = r.now from ${rows} r
    where device_removals.brand = r.brand and device_removals.device = r.device
      and device_removals.user_id = r.user_id and device_removals.at = r.at`,
})

export const eraseRemovals = statement<{ device: string }>('erase_device_removals', erasedDevice)`
  delete from device_removals where (brand, device, user_id, at) in (
    select m.brand, m.device, m.user_id, m.at from ${rows} r
    join device_removals m on m.brand = r.brand and m.device = r.device and m.user_id = r.user_id and m.removed_at <= r.at)
  returning device`
