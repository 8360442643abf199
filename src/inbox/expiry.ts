// Notifications that expire before they are seen have the delivery status `expired` (row 23).

import { timestampOf } from '../contract/timestamp.ts'
import { clock } from '../runtime/clock.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import type { StatusOps } from './marks.ts'

const batchRows = 1_000
const everyMs = 2_000

/** Records expiries in steps. Two processes that record the same one record it once. */
export function createExpiry(database: Pick<Database, 'read' | 'commit'>, statusOps: StatusOps): Loop {
  return createLoop({
    name: 'expiry of notifications',
    async turn() {
      const expired = await database.read(op(selectExpired, [[clock.now(), batchRows]]))
      if (expired.length === 0) return everyMs
      const unseen = expired.filter(({ seen_at: seenAt }) => seenAt === null)
      await database.commit([
        op(
          noteExpiry,
          expired.map(({ brand, ref }) => [brand, ref]),
        ),
        ...statusOps(
          unseen.map(({ brand, ref, expires_at: at }) => ({ brand, ref, status: 'expired', at: timestampOf(at) })),
        ),
      ])
      return expired.length < batchRows ? everyMs : 0
    },
  })
}

const selectExpired = statement<{ brand: string; ref: string; expires_at: number; seen_at: number | null }>({
  name: 'select_expired_inbox',
  rank: 90,
  columns: { now: 'bigint', most: 'bigint' },
  text: (rows) => `
    select i.brand, i.ref, i.expires_at, i.seen_at from inbox i
    where i.expires_at is not null and i.expiry_recorded is null and i.expires_at <= (select r.now from ${rows} r)
    order by i.expires_at limit (select r.most from ${rows} r)`,
})

const noteExpiry = statement({
  name: 'note_inbox_expiry',
  rank: 44,
  columns: { brand: 'text', ref: 'text' },
  text: (rows) => `
    update inbox set expiry_recorded = 1 from ${rows} r where inbox.brand = r.brand and inbox.ref = r.ref`,
})
