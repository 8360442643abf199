import { forgetOutcomeCounts } from '../queue/outcome-counts.ts'
import type { RetainedTable } from '../runtime/retention.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { forgetConversions } from './counted.ts'
import { forgetReported } from './tables.ts'

const stepRows = 2_000

/** For createRetention(): deletes old statuses in bounded steps. */
export function conversionRetention(database: Database, keptMs: number): readonly RetainedTable[] {
  return [
    {
      keptMs,
      async forget(before) {
        const [deleted] = await database.commit([op(forgetReported, [[before, stepRows]])])
        return deleted.length
      },
    },
    { keptMs, forget: (before) => forgetConversions(database, before) },
    { keptMs, forget: (before) => forgetOutcomeCounts(database, before) },
  ]
}
