// Deletes old unlinks, ended links and removals in bounded steps. A live link is never deleted. An unlink is never deleted
// before the link that it ended, because that link would be in force again.

import type { Database, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { clearTokensOp } from './tables.ts'

/** How long a removal can be restored. */
export const removalsKeptMs = 30 * 24 * 3_600_000

const batchSize = 1_000

/** @param before epoch milliseconds @returns how many unlinks were deleted; 0: there are no more */
export async function forgetUnlinks(database: Database, before: number): Promise<number> {
  const old = await database.read(op(selectOld, [[before, batchSize]]))
  if (old.length === 0) return 0
  await database.commit(forgetOps(old, before))
  return old.length
}

/** Deletes these unlinks and the links that they ended, if they were stored before this time. */
export function forgetOps(
  unlinks: readonly { readonly brand: string; readonly device: string; readonly user_id: string }[],
  before: number,
): readonly Op[] {
  const rows = unlinks.map((row) => [row.brand, row.device, row.user_id, before])
  return [op(deleteEnded, rows), op(deleteUnlinks, rows)]
}

const selectOld = statement<{ brand: string; device: string; user_id: string }>({
  name: 'select_old_device_unlinks',
  columns: { before: 'bigint', most: 'bigint' },
  text: (rows) => `
    select u.brand, u.device, u.user_id from device_unlinks u
    where u.seen_at < (select min(r.before) from ${rows} r)
    order by u.seen_at limit (select max(m.most) from ${rows} m)`,
})

const oldUnlink = { brand: 'text', device: 'text', user_id: 'text', before: 'bigint' } as const

/** Deletes the links that these unlinks ended. */
const deleteEnded = statement('delete_ended_devices', oldUnlink)`
  delete from devices where (brand, device) in (
    select u.brand, u.device from ${rows} r
    join device_unlinks u on u.brand = r.brand and u.device = r.device and u.user_id = r.user_id and u.seen_at < r.before
    join devices d on d.brand = u.brand and d.device = u.device and d.user_id = u.user_id and d.link_at <= u.at)`

/** Deletes these unlinks, except one that was renewed meanwhile or still ends a link. */
const deleteUnlinks = statement('delete_old_device_unlinks', oldUnlink)`
  delete from device_unlinks where (brand, device, user_id) in (
    select u.brand, u.device, u.user_id from ${rows} r
    join device_unlinks u on u.brand = r.brand and u.device = r.device and u.user_id = r.user_id and u.seen_at < r.before
    where not exists (select 1 from devices d
      where d.brand = u.brand and d.device = u.device and d.user_id = u.user_id and d.link_at <= u.at))`

export async function forgetRemovals(database: Database, before: number): Promise<number> {
  const [deleted] = await database.commit([op(deleteRemovals, [[before, batchSize]])])
  // A removal that is forgotten cannot be restored.
  if (deleted.length > 0)
    await database.commit([clearTokensOp(deleted.map(({ brand, device }) => ({ brand, id: device })))])
  return deleted.length
}

const deleteRemovals = statement<{ brand: string; device: string }>({
  name: 'delete_old_device_removals',
  columns: { before: 'bigint', most: 'bigint' },
  text: (rows) => `
    delete from device_removals where (brand, device, user_id, at) in (
      select m.brand, m.device, m.user_id, m.at from device_removals m
      where m.removed_at < (select min(r.before) from ${rows} r) limit (select max(x.most) from ${rows} x))
    returning brand, device`,
})
