// Failed Actions (§6.4): lists and shows failed items.

import { toRanges } from '../../runtime/ranges.ts'
import type { Database } from '../../store/database.ts'
import { op, statement } from '../../store/statement.ts'
import { readIdentifiers } from '../identifiers.ts'
import { readAttempts } from '../lane/attempts.ts'
import type { FailedFilter, FailedItem, FailedItemDetails } from '../queue.ts'
import { matchFailed } from './failed-filter.ts'
import { failedStates } from './failed-state.ts'

// Not a join with `items`: PostgreSQL would join both tables completely, before it applies the ranges.
const selectFailed = statement<Omit<FailedItem, 'state'> & { readonly state: number }>({
  name: 'select_failed',
  columns: { first: 'bigint', last: 'bigint' },
  text: (rows) => `
    select f.seq, f.lane, f.key, f.activity, f.action, f.user_id as "user", f.reason, f.error, f.rule, f.answer, f.call,
      f.attempts, f.at, f.state, f.replays, f.decided_by as "decidedBy", f.decided_at as "decidedAt",
      (select i.text from items i where i.seq = f.seq) as text
    from ${rows} r cross join failed f where f.seq between r.first and r.last`,
})

/** Lists a page of failed items after the cursor, sorted by number. `next` is absent on the last page. */
export async function listFailed(
  database: Database,
  filter: FailedFilter,
  page: { readonly after: number; readonly limit: number },
): Promise<{ items: readonly FailedItem[]; next?: number }> {
  const { items, ...next } = await matchFailed(database, filter, page)
  return { items: await readFailed(database, items), ...next }
}

async function readFailed(
  database: Database,
  items: readonly { readonly seq: number }[],
): Promise<readonly FailedItem[]> {
  // With "order by", PostgreSQL would read the whole index in that order.
  const rows = await database.read(op(selectFailed, toRanges(items.map(({ seq }) => seq))))
  return [...rows]
    .sort((a, b) => a.seq - b.seq)
    .map((row) => ({ ...row, state: failedStates[row.state] as FailedItem['state'] }))
}

/** Finds one failed item, with its attempts and identifiers. */
export async function findFailed(database: Database, seq: number): Promise<FailedItemDetails | undefined> {
  const [[item], attempts, identifiers] = await Promise.all([
    readFailed(database, [{ seq }]),
    readAttempts(database, [seq]),
    readIdentifiers(database, [seq]),
  ])
  return item && { ...item, history: attempts.get(seq) ?? [], identifiers: identifiers.get(seq) ?? [] }
}
