import { refusals } from './refusal.ts'
import type { Run } from './runs.ts'
import { type Direction, type Severity, severityOf } from './severity.ts'

/** As /admin shows a run. */
export interface ShownRun {
  readonly run: string
  readonly brand: string
  readonly field: Run['field']
  readonly state: Run['state']
  readonly asked_at: string
  readonly asked_by: string
  readonly started_at: string | null
  readonly ended_at: string | null
  /** The operator's timestamp. */
  readonly data_at: string | null
  readonly ids: number
  readonly bytes: number
  /** Since it started, until now or its end. */
  readonly ids_per_second: number | null
  /** Most that the platform's process had meanwhile. */
  readonly memory_bytes: number
  readonly crm_users: number | null
  readonly discrepancies:
    | (Readonly<Record<Severity, number>> & Readonly<Record<Direction, number>> & { readonly too_recent: number })
    | null
  readonly refused: { readonly why: string; readonly particulars: string; readonly remedy: string } | null
  readonly acknowledged: { readonly at: string; readonly by: string } | null
}

export function shownRun(run: Run, now = Date.now()): ShownRun {
  const { brand, field, state, started_at, ended_at, why } = run
  const ms = started_at === null ? 0 : (ended_at ?? now) - started_at
  return {
    run: run.run,
    brand,
    field,
    state,
    asked_at: time(run.asked_at) as string,
    asked_by: run.asked_by,
    started_at: time(started_at),
    ended_at: time(ended_at),
    data_at: time(run.data_at),
    ids: run.ids,
    bytes: run.bytes,
    ids_per_second: ms > 0 ? Math.round((run.ids * 1000) / ms) : null,
    memory_bytes: run.memory,
    crm_users: run.crm_users,
    discrepancies: run.state === 'done' ? counts(run) : null,
    refused: why === null ? null : { why, particulars: run.particulars ?? '', remedy: refusals[why] },
    acknowledged:
      run.acknowledged_at === null
        ? null
        : { at: time(run.acknowledged_at) as string, by: run.acknowledged_by as string },
  }
}

function counts({ field, operator_only, crm_only, too_recent }: Run): NonNullable<ShownRun['discrepancies']> {
  const found = { operator_only: operator_only ?? 0, crm_only: crm_only ?? 0 }
  const bySeverity = { critical: 0, high: 0, low: 0 }
  for (const direction of ['operator_only', 'crm_only'] as const)
    bySeverity[severityOf(field, direction)] += found[direction]
  return { ...bySeverity, ...found, too_recent: too_recent ?? 0 }
}

function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
