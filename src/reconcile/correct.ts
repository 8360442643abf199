// Correcting the CRM's own data by what the operator said: only when asked, raising no events of user data, and only where the
// CRM's value is still the one that was compared. Reconciliation is a fail-safe: nothing follows from it by itself.

import type { ReconciliationField as Field } from '../contract/records.ts'
import { HttpError } from '../http/http.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { uuidv7 } from '../runtime/ids.ts'
import type { Database, Migration } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { correctCrmUsers } from './crm/correct.ts'
import { allDiscrepancies, markCorrected } from './discrepancies.ts'
import { latestRuns, type Run } from './runs.ts'
import { changeOf, type Direction } from './severity.ts'

export type What = 'tighten' | 'loosen'

/** The audit: who changed how much, when and why; the discrepancies carry its name. */
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
  },
]

const begin = statement({
  name: 'begin_correction',
  rank: 230,
  columns: {
    brand: 'text',
    correction: 'text',
    run: 'text',
    field: 'text',
    what: 'text',
    at: 'bigint',
    by: 'text',
  },
  text: (rows) => `
    insert into corrections (brand, correction, run, field, what, at, by)
    select r.brand, r.correction, r.run, r.field, r.what, r.at, r.by from ${rows} r`,
})

const finish = statement({
  name: 'finish_correction',
  rank: 231,
  columns: { brand: 'text', correction: 'text', applied: 'bigint', skipped: 'bigint' },
  text: (rows) => `
    update corrections set applied = r.applied, skipped = r.skipped from ${rows} r
    where corrections.brand = r.brand and corrections.correction = r.correction`,
})

const select = statement<{
  correction: string
  what: What
  at: number
  by: string
  applied: number | null
  skipped: number | null
}>({
  name: 'list_corrections',
  rank: 0,
  columns: { brand: 'text', run: 'text' },
  text: (rows) => `
    select c.correction, c.what, c.at, c.by, c.applied, c.skipped from ${rows} r
    join corrections c on c.brand = r.brand and c.run = r.run order by c.correction`,
})

/** Those of a run; without applied: it was broken off, and can be asked for again. */
export async function listCorrections(database: Database, { brand, run }: Run) {
  const rows = await database.read(op(select, [[brand, run]]))
  return rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() }))
}

export interface Preview {
  readonly what: What
  /** Users whose value would change, unless it changed meanwhile. */
  readonly count: number
  readonly sets: string
  /** The first of them. */
  readonly sample: readonly string[]
}

const sampleSize = 10

/** What a correction would do. */
export async function previewCorrection(database: Database, run: Run, what: What): Promise<Preview> {
  const sample: string[] = []
  let count = 0
  for await (const page of allDiscrepancies(database, run, directionOf(run.field, what))) {
    for (const { correction, user_id } of page) {
      if (correction !== null) continue
      count++
      if (sample.length < sampleSize) sample.push(user_id)
    }
  }
  return { what, count, sets: `${run.field} = ${newValue(run.field, what)}`, sample }
}

export interface Corrected {
  readonly correction: string
  readonly applied: number
  /** The CRM's value changed since the comparison, or cannot be kept there. */
  readonly skipped: number
}

/**
 * Does it. Asking again goes on with what is left.
 *
 * @throws HttpError when a newer run is there: its findings are the ones to go by
 */
export async function correct(database: Database, run: Run, what: What, by: string): Promise<Corrected> {
  const { brand, field } = run
  const { lastDone } = await latestRuns(database, brand, field)
  if (run.state !== 'done') throw new HttpError(409, `this run is ${run.state}: only a done one can correct anything`)
  if (lastDone?.run !== run.run)
    throw new HttpError(409, `there is a newer run of ${field}: correct from ${lastDone?.run}`)
  const correction = uuidv7()
  const at = clock.now()
  await database.commit([op(begin, [[brand, correction, run.run, field, what, at, by]])])
  let applied = 0
  let skipped = 0
  for await (const page of allDiscrepancies(database, run, directionOf(field, what))) {
    const open = page.filter((each) => each.correction === null)
    const done = await correctCrmUsers(
      database,
      { brand, field, value: newValue(field, what), at },
      open.map(({ user_id, crm_at }) => ({ userId: user_id, seenAt: crm_at })),
    )
    const corrected = open.filter(({ user_id }) => done.has(user_id))
    await markCorrected(database, run, correction, corrected)
    applied += corrected.length
    skipped += open.length - corrected.length
  }
  await database.commit([op(finish, [[brand, correction, applied, skipped]])])
  emit('crm.corrected', { brand, field, run: run.run, what, applied, skipped })
  return { correction, applied, skipped }
}

function directionOf(field: Field, what: What): Direction {
  return changeOf(field, 'operator_only') === what ? 'operator_only' : 'crm_only'
}

/** The operator is right: where it alone has the field, it becomes true. */
function newValue(field: Field, what: What): boolean {
  return directionOf(field, what) === 'operator_only'
}
