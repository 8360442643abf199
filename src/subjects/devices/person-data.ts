// A person's devices: links, unlinks and removals.

import type { PersonPart } from '../../base/people/person-data.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { timestampOf } from '../../contract/timestamp.ts'
import { eraseRemovals } from './removals/removals.ts'
import { eraseLinks, eraseUnlinks, selectOwn } from './tables.ts'

export const devicePersonPart: PersonPart = {
  name: 'devices',
  tables: [
    { table: 'devices', deleted: true },
    { table: 'device_unlinks', deleted: true },
    { table: 'device_removals', deleted: true },
  ],
  async *read(database, { brand, userId }) {
    const [own, removals] = await Promise.all([
      database.read(op(selectOwn, [[brand, userId]])),
      database.read(op(selectRemovals, [[brand, userId]])),
    ])
    const removalsOf = Map.groupBy(removals, ({ device }) => device)
    yield own
      .toSorted((a, b) => (a.device < b.device ? -1 : 1))
      .map((row) => ({ ...row, removals: removalsOf.get(row.device) ?? [] }))
  },
  async erase(database, { brand, userId, at }) {
    const own = await database.read(op(selectOwn, [[brand, userId]]))
    if (own.length === 0) return { erased: 0, waiting: 0 }
    const rows = own.map(({ device }) => [brand, device, userId, timestampOf(at), at])
    const [removals, links, unlinks] = await database.commit([
      op(eraseRemovals, rows),
      op(eraseLinks, rows),
      op(eraseUnlinks, rows),
    ])
    return { erased: removals.length + links.length + unlinks.length, waiting: 0 }
  },
}

interface RemovalRow {
  readonly device: string
  readonly link_at: string
  readonly at: string
  readonly why: string
  readonly removed_at: number
  readonly restored_at: number | null
}

// Each removal has an unlink, which the index finds by user.
const selectRemovals = statement<RemovalRow>('removals_of_person', { brand: 'text', user_id: 'text' })`
  select m.device, m.link_at, m.at, m.why, m.removed_at, m.restored_at
  from ${rows} r cross join device_unlinks u cross join device_removals m
  where u.user_id = r.user_id and u.brand = r.brand
    and m.brand = u.brand and m.device = u.device and m.user_id = u.user_id
  order by m.device, m.at`
