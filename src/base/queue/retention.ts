// Deletes old settled items. A forgotten item is new when it is enqueued again (row 29), so no retry or replay may come later.

import type { Database } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import { forgetEmptyGroups } from './failed/failed-counts.ts'
import { forgetAttempts } from './lane/attempts.ts'

const selectOld = statement<{ lane: string; first: number; last: number }>({
  name: 'old_settled',
  columns: { before: 'bigint', max_rows: 'bigint' },
  text: (rows) => `
    select s.lane, s.first, s.last from settled s
    where s.at < (select r.before from ${rows} r) order by s.at limit (select r.max_rows from ${rows} r)`,
})

const range = { lane: 'text', first: 'bigint', last: 'bigint' } as const
// As in settle-ops.ts: a range with `in` costs PostgreSQL four times as much.
export const deleteRange = (name: string, table: string, condition = 'true') => ({
  postgres: statement(name, range)`
    delete from ${table} t using ${rows} r where t.seq between r.first and r.last and ${condition}`,
  sqlite: statement(name, range)`
    delete from ${table} where seq in
      (select t.seq from ${rows} r cross join ${table} t where t.seq between r.first and r.last and ${condition})`,
})
const isSettled = 'exists (select 1 from settled s where s.lane = r.lane and s.first = r.first)'
// Before the others: a replay locks its row there. If the replay was first, the items are then unsettled, and stay.
export const deleteFailed = deleteRange('forget_failed', 'failed')
const deleteItems = deleteRange('forget_items', 'items', isSettled)
const deleteIdentifiers = deleteRange('forget_identifiers', 'identifiers', isSettled)

const deleteSettled = statement('forget_settled', range)`
  delete from settled where (lane, first) in (select r.lane, r.first from ${rows} r)`

/** The approximate number of items in one step: a run has up to 2,000. */
const stepItems = 5_000
const stepRuns = 1_000

/**
 * Deletes a bounded number of items that were settled before `before` (epoch ms), with their outcomes. Call it until it returns 0.
 *
 * @example while ((await forgetSettled(database, Date.now() - 90 * 24 * 3_600_000)) > 0);
 */
export async function forgetSettled(database: Database, before: number): Promise<number> {
  const old = await database.read(op(selectOld, [[before, stepRuns]]))
  const rows: [string, number, number][] = []
  let items = 0
  for (const { lane, first, last } of old) {
    if (items >= stepItems) break
    rows.push([lane, first, last])
    items += last - first + 1
  }
  const { engine } = database
  if (items > 0)
    await database.commit([
      op(deleteFailed[engine], rows),
      op(deleteItems[engine], rows),
      op(deleteIdentifiers[engine], rows),
      op(deleteSettled, rows),
    ])
  return items
}

/**
 * Deletes a bounded number of attempts from before `before` (epoch ms). Call it until it returns 0; then it also deletes the
 * counts of groups that have no failed items any more.
 */
export async function forgetEvidence(database: Database, before: number): Promise<number> {
  const attempts = await forgetAttempts(database, before)
  if (attempts === 0) await forgetEmptyGroups(database)
  return attempts
}
