// Notifications that expire before they are seen have the delivery status `expired` (row 23).

import { clock } from '../../base/runtime/clock.ts'
import { createLoop, type Loop } from '../../base/runtime/loop.ts'
import type { Database, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { timestampOf } from '../../contract/timestamp.ts'
import type { StatusOps } from './marks.ts'

const batchRows = 1_000
const everyMs = 2_000

/** Records expiries in steps. Two processes that record the same one record it once. */
export function createExpiry(database: Pick<Database, 'read' | 'commit'>, statusOps: StatusOps): Loop {
  /** The brands whose rows could not be changed in the last turn: they do not fill the next one. */
  let refused: readonly string[] = []

  function opsOf(expired: readonly Expired[]): readonly Op[] {
    const unseen = expired.filter(({ seen_at: seenAt }) => seenAt === null)
    return [
      op(noteExpiry, expired, ({ brand, ref }) => [brand, ref]),
      ...statusOps(
        unseen.map(({ brand, ref, expires_at: at }) => ({ brand, ref, status: 'expired', at: timestampOf(at) })),
      ),
    ]
  }

  return createLoop('expiry of notifications', async () => {
    const now = clock.now()
    const excluded = refused
    refused = []
    const expired = await database.read(op(selectExpired, ['', ...excluded], (brand) => [now, batchRows, brand]))
    if (expired.length === 0) return everyMs
    // Each brand separately: the rows of a brand that is being moved to another database cannot be changed.
    const brands = [...Map.groupBy(expired, ({ brand }) => brand).values()]
    const recorded = await Promise.allSettled(brands.map((ofBrand) => database.commit(opsOf(ofBrand))))
    refused = brands.flatMap(([first], n) => (recorded[n]?.status === 'rejected' && first ? [first.brand] : []))
    for (const each of recorded) if (each.status === 'rejected') throw each.reason
    return expired.length < batchRows ? everyMs : 0
  })
}

interface Expired {
  readonly brand: string
  readonly ref: string
  readonly expires_at: number
  readonly seen_at: number | null
}

const selectExpired = statement<Expired>('select_expired_inbox', { now: 'bigint', most: 'bigint', excluded: 'text' })`
  select i.brand, i.ref, i.expires_at, i.seen_at from inbox i
  where i.expires_at is not null and i.expiry_recorded is null and i.expires_at <= (select max(r.now) from ${rows} r)
    and i.brand not in (select r.excluded from ${rows} r)
  order by i.expires_at limit (select max(r.most) from ${rows} r)`

const noteExpiry = statement('note_inbox_expiry', { brand: 'text', ref: 'text' })`
  update inbox set expiry_recorded = 1 from ${rows} r where inbox.brand = r.brand and inbox.ref = r.ref`
