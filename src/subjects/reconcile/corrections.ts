// Corrects the CRM's values to the operator's values, only at a person's request and without events of user data. A value is
// changed only if it is still the compared value.

import { HttpError } from '../../base/http/http.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { uuidv7 } from '../../base/runtime/ids.ts'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import { correctCrmUsers } from './crm/correct-users.ts'
import { markCorrected, readAllDiscrepancies } from './discrepancies.ts'
import { type ReconciliationRun, readLatestRuns } from './runs.ts'
import { correctionKindOf, type Direction } from './severity.ts'

export type CorrectionKind = 'tighten' | 'loosen'

/** The audit of corrections. Each corrected discrepancy has the name of its correction. */
export const correctionMigrations: readonly Migration[] = [
  {
    name: 'reconcile/3',
    statements: ({ key }) => [
      `create table corrections (
        brand ${key} not null, correction ${key} not null, run ${key} not null, field text not null, what text not null,
        at bigint not null, by text not null, applied bigint, skipped bigint,
        primary key (brand, correction)
      )`,
    ],
    brandTables: [{ table: 'corrections', brand: 'brand' }],
  },
]

const insertCorrection = statement('begin_correction', {
  brand: 'text',
  correction: 'text',
  run: 'text',
  field: 'text',
  what: 'text',
  at: 'bigint',
  by: 'text',
})`
  insert into corrections (brand, correction, run, field, what, at, by)
  select r.brand, r.correction, r.run, r.field, r.what, r.at, r.by from ${rows} r`

const updateCorrection = statement({
  name: 'finish_correction',
  columns: { brand: 'text', correction: 'text', applied: 'bigint', skipped: 'bigint' },
  text: (rows) => `
    update corrections set applied = r.applied, skipped = r.skipped from ${rows} r
    where corrections.brand = r.brand and corrections.correction = r.correction`,
})

const selectCorrections = statement<{
  correction: string
  what: CorrectionKind
  at: number
  by: string
  applied: number | null
  skipped: number | null
}>({
  name: 'list_corrections',
  columns: { brand: 'text', run: 'text' },
  text: (rows) => `
    select c.correction, c.what, c.at, c.by, c.applied, c.skipped from ${rows} r
    join corrections c on c.brand = r.brand and c.run = r.run order by c.correction`,
})

/** Lists the corrections of a run. Without `applied`, a correction was interrupted and can be requested again. */
export async function listCorrections(database: Database, { brand, run }: ReconciliationRun) {
  const rows = await database.read(op(selectCorrections, [[brand, run]]))
  return rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() }))
}

export interface CorrectionPreview {
  readonly what: CorrectionKind
  /** The number of users whose value would change. */
  readonly count: number
  /** The change, such as `blocked = true`. */
  readonly sets: string
  /** The first of these users. */
  readonly sample: readonly string[]
}

const sampleSize = 10

/** Counts the users whose value a correction would change. */
export async function previewCorrection(
  database: Database,
  run: ReconciliationRun,
  what: CorrectionKind,
): Promise<CorrectionPreview> {
  const sample: string[] = []
  let count = 0
  for await (const page of readAllDiscrepancies(database, run, directionOf(run.field, what))) {
    for (const { correction, user_id } of page) {
      if (correction !== null) continue
      count++
      if (sample.length < sampleSize) sample.push(user_id)
    }
  }
  return { what, count, sets: `${run.field} = ${newValue(run.field, what)}`, sample }
}

export interface CorrectionResult {
  readonly correction: string
  readonly applied: number
  /** The number of users whose value changed since the comparison, or whose id the CRM cannot store. */
  readonly skipped: number
}

/**
 * Applies a correction. After an interruption, a second correction changes the remaining users.
 *
 * @param also operations for the first commit, and for the last one, which knows how many users were changed
 * @throws HttpError if there is a newer run: only its discrepancies may be corrected
 */
export async function applyCorrection(
  database: Database,
  run: ReconciliationRun,
  what: CorrectionKind,
  by: string,
  also: (count?: number) => readonly Op[] = () => [],
): Promise<CorrectionResult> {
  const { brand, field } = run
  const { lastDone } = await readLatestRuns(database, brand, field)
  if (run.state !== 'done') throw new HttpError(409, `this run is ${run.state}: correct from a run that is done`)
  if (lastDone?.run !== run.run)
    throw new HttpError(409, `there is a newer run of ${field}: correct from ${lastDone?.run}`)
  const correction = uuidv7()
  const at = clock.now()
  await database.commit([op(insertCorrection, [[brand, correction, run.run, field, what, at, by]]), ...also()])
  let applied = 0
  let skipped = 0
  for await (const page of readAllDiscrepancies(database, run, directionOf(field, what))) {
    const open = page.filter((each) => each.correction === null)
    const changedUsers = await correctCrmUsers(
      database,
      { brand, field, value: newValue(field, what), at },
      open.map(({ user_id, crm_at }) => ({ userId: user_id, comparedAt: crm_at })),
    )
    const corrected = open.filter(({ user_id }) => changedUsers.has(user_id))
    await markCorrected(database, run, correction, corrected)
    applied += corrected.length
    skipped += open.length - corrected.length
  }
  await database.commit([op(updateCorrection, [[brand, correction, applied, skipped]]), ...also(applied)])
  emit('crm.corrected', { brand, field, run: run.run, what, applied, skipped })
  return { correction, applied, skipped }
}

function directionOf(field: Field, what: CorrectionKind): Direction {
  return correctionKindOf(field, 'operator_only') === what ? 'operator_only' : 'crm_only'
}

/** The operator's value: true for users that only the operator lists. */
function newValue(field: Field, what: CorrectionKind): boolean {
  return directionOf(field, what) === 'operator_only'
}
