// Deletes old runs with their discrepancies, except the newest done run of each brand and field: the size of the next list is
// checked against it.

import { firstUuidv7 } from '../../base/runtime/ids.ts'
import type { Database } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'

const selectOld = statement<{ brand: string; run: string }>('old_reconciliations', { before: 'text' })`
  select t.brand, t.run from ${rows} r join reconciliation_runs t on t.run < r.before
  where t.run < (select max(l.run) from reconciliation_runs l where l.brand = t.brand and l.field = t.field and l.state = 'done')
    or t.state not in ('done', 'requested', 'streaming', 'comparing')
  order by t.run limit 1`

const deleteDiscrepancies = statement<{ n: number }>('forget_discrepancies', { brand: 'text', run: 'text' })`
  delete from discrepancies where (brand, run, n) in (
    select d.brand, d.run, d.n from ${rows} r join discrepancies d on d.brand = r.brand and d.run = r.run limit 2000)
  returning n`

const deleteRun = statement('forget_reconciliation', { brand: 'text', run: 'text' })`
  delete from reconciliation_runs where (brand, run) in (select r.brand, r.run from ${rows} r)`

/** @returns how many rows were deleted; 0: no run is older than `before` (epoch milliseconds) */
export async function forgetRuns(database: Database, before: number): Promise<number> {
  const [old] = await database.read(op(selectOld, [[firstUuidv7(before)]]))
  if (!old) return 0
  const [deleted] = await database.commit([op(deleteDiscrepancies, [[old.brand, old.run]])])
  if (deleted.length > 0) return deleted.length
  await database.commit([op(deleteRun, [[old.brand, old.run]])])
  return 1
}
