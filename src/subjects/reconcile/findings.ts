// The discrepancies that a person has to correct. Every process of the platform reads them from the store: a restart forgets no finding, and
// the process that executed the last run need not be the one that executed the run before.

import type { Database } from '../../base/store/database.ts'
import type { ReconciliationOptions } from './options.ts'
import { type ReconciliationRun, readLastDone } from './runs.ts'
import { type Direction, type Severity, severityOf } from './severity.ts'

export type FindingCounts = Readonly<Record<Severity, number>>

export type Findings = FindingCounts & Pick<ReconciliationRun, 'brand' | 'field' | 'run'>

const directions: readonly Direction[] = ['operator_only', 'crm_only']

export function countFindings(run: ReconciliationRun): FindingCounts {
  const counts = { critical: 0, high: 0, low: 0 }
  for (const direction of directions) counts[severityOf(run.field, direction)] += run[direction] ?? 0
  return counts
}

/** The findings of the last good run of each list; 0 of a run that a person has acknowledged. */
export async function readFindings(
  database: Database,
  configured: readonly ReconciliationOptions[],
): Promise<readonly Findings[]> {
  const lists = configured.flatMap(({ brand, fields }) => fields.map((field) => [brand, field] as const))
  const runs = await readLastDone(database, lists)
  return runs.map((run) => ({
    brand: run.brand,
    field: run.field,
    run: run.run,
    ...(run.acknowledged_at === null ? countFindings(run) : { critical: 0, high: 0, low: 0 }),
  }))
}
