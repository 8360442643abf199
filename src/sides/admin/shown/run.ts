import { type Static, Type } from 'typebox'
import { clock } from '../../../base/runtime/clock.ts'
import { nullable, text, whole } from '../../../contract/documents/described.ts'
import { reconciliationFields } from '../../../contract/records.ts'
import { remedies } from '../../../subjects/reconcile/answer-refused.ts'
import { countFindings } from '../../../subjects/reconcile/findings.ts'
import { type ReconciliationRun, runStates } from '../../../subjects/reconcile/runs.ts'

const time = (description: string) => Type.String({ format: 'date-time', description })

/** A run in the format of /admin. */
export const ShownRun = Type.Object(
  {
    run: Type.String(),
    brand: Type.String(),
    field: Type.Enum([...reconciliationFields]),
    state: Type.Enum([...runStates]),
    requested_at: time('The time of the request'),
    requested_by: text('The name of the key that requested the run, or schedule'),
    started_at: nullable(time('The start of the run')),
    ended_at: nullable(time('The end of the run')),
    data_at: nullable(time("The operator's timestamp: the time of its data")),
    ids: whole('The ids that were read so far'),
    bytes: whole('The bytes that were read so far'),
    ids_per_second: nullable(whole('From the start until now or the end')),
    memory_bytes: whole("The peak memory of the platform's process during the run"),
    crm_users: nullable(whole()),
    discrepancies: nullable(
      Type.Object({
        critical: whole(),
        high: whole(),
        low: whole(),
        operator_only: whole(),
        crm_only: whole(),
        too_recent: whole('Users whose value the CRM changed too recently to judge'),
      }),
    ),
    refused: nullable(Type.Object({ why: Type.String(), detail: Type.String(), remedy: Type.String() })),
    acknowledged: nullable(Type.Object({ at: time('The time of the acknowledgement'), by: Type.String() })),
  },
  { $id: 'ReconciliationRun' },
)
export type ShownRun = Static<typeof ShownRun>

export function shownRun(run: ReconciliationRun, now = clock.now()): ShownRun {
  const { brand, field, state, started_at, ended_at, why } = run
  const ms = started_at === null ? 0 : (ended_at ?? now) - started_at
  return {
    run: run.run,
    brand,
    field,
    state,
    requested_at: iso(run.requested_at) as string,
    requested_by: run.requested_by,
    started_at: iso(started_at),
    ended_at: iso(ended_at),
    data_at: iso(run.data_at),
    ids: run.ids,
    bytes: run.bytes,
    ids_per_second: ms > 0 ? Math.round((run.ids * 1000) / ms) : null,
    memory_bytes: run.memory,
    crm_users: run.crm_users,
    discrepancies: run.state === 'done' ? counts(run) : null,
    refused: why === null ? null : { why, detail: run.detail ?? '', remedy: remedies[why] },
    acknowledged:
      run.acknowledged_at === null
        ? null
        : { at: iso(run.acknowledged_at) as string, by: run.acknowledged_by as string },
  }
}

function counts(run: ReconciliationRun): NonNullable<ShownRun['discrepancies']> {
  const { operator_only, crm_only, too_recent } = run
  return {
    ...countFindings(run),
    operator_only: operator_only ?? 0,
    crm_only: crm_only ?? 0,
    too_recent: too_recent ?? 0,
  }
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
