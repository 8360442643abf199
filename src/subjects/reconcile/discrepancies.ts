// The discrepancies of a run: users on whom operator and CRM differ. They are stored with the run and marked when corrected.

import { readPages } from '../../base/runtime/read-pages.ts'
import type { Database, Migration } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import type { Difference } from './compare-lists.ts'
import { type Direction, type Severity, severityOf } from './severity.ts'

export interface Discrepancy {
  readonly brand: string
  readonly run: string
  /** Increasing, with gaps. The worse direction comes first. */
  readonly n: number
  readonly field: Field
  readonly user_id: string
  readonly direction: Direction
  readonly severity: Severity
  /** When the CRM's value had last changed, in epoch milliseconds. Null: the CRM had no value. */
  readonly crm_at: number | null
  /** The correction that changed the CRM's value. */
  readonly correction: string | null
}

export const discrepancyMigrations: readonly Migration[] = [
  {
    name: 'reconcile/2',
    statements: ({ key }) => [
      `create table discrepancies (
        brand ${key} not null, run ${key} not null, n bigint not null, field text not null,
        user_id ${key} not null, direction text not null, severity text not null, crm_at bigint, correction text,
        primary key (brand, run, n)
      )`,
      // The brand is last: see devices_user in devices/tables.ts.
      'create index discrepancies_user on discrepancies (user_id, brand)',
    ],
    brandTables: [{ table: 'discrepancies', brand: 'brand' }],
  },
]

const insertRows = statement('insert_discrepancies', {
  brand: 'text',
  run: 'text',
  n: 'bigint',
  field: 'text',
  user_id: 'text',
  direction: 'text',
  severity: 'text',
  crm_at: 'bigint',
})`
  insert into discrepancies (brand, run, n, field, user_id, direction, severity, crm_at)
  select r.brand, r.run, r.n, r.field, r.user_id, r.direction, r.severity, r.crm_at from ${rows} r where true
  on conflict (brand, run, n) do nothing`

export async function insertDiscrepancies(
  database: Database,
  { brand, run, field }: { readonly brand: string; readonly run: string; readonly field: Field },
  differences: readonly Difference[],
): Promise<void> {
  const rows = differences.map(({ n, userId, direction, crmAt }) => {
    return [brand, run, n, field, userId, direction, severityOf(field, direction), crmAt]
  })
  await database.commit([op(insertRows, rows)])
}

const selectPage = statement<Discrepancy>({
  name: 'list_discrepancies',
  columns: { brand: 'text', run: 'text', direction: 'text', after: 'bigint', most: 'bigint' },
  text: (rows) => `
    select d.brand, d.run, d.n, d.field, d.user_id, d.direction, d.severity, d.crm_at, d.correction
    from ${rows} r join discrepancies d on d.brand = r.brand and d.run = r.run and d.n > r.after
    where r.direction is null or d.direction = r.direction
    order by d.n limit (select m.most from ${rows} m)`,
})

/** Reads a page, of one direction or of both. */
export function listDiscrepancies(
  database: Database,
  { brand, run }: { readonly brand: string; readonly run: string },
  after: number,
  limit: number,
  direction?: Direction,
): Promise<readonly Discrepancy[]> {
  return database.read(op(selectPage, [[brand, run, direction ?? null, after, limit]]))
}

const updateCorrected = statement('mark_corrected', { brand: 'text', run: 'text', n: 'bigint', correction: 'text' })`
  update discrepancies set correction = r.correction from ${rows} r
  where discrepancies.brand = r.brand and discrepancies.run = r.run and discrepancies.n = r.n`

export async function markCorrected(
  database: Database,
  { brand, run }: { readonly brand: string; readonly run: string },
  correction: string,
  corrected: readonly Discrepancy[],
): Promise<void> {
  await database.commit([op(updateCorrected, corrected, ({ n }) => [brand, run, n, correction])])
}

/** Reads all discrepancies of a run, in pages. */
export const readAllDiscrepancies = (
  database: Database,
  run: { readonly brand: string; readonly run: string },
  direction?: Direction,
): AsyncGenerator<readonly Discrepancy[]> =>
  readPages('n', 0, pageRows, (after) => listDiscrepancies(database, run, after, pageRows, direction))

const pageRows = 2_000

/** The discrepancies about one user, of all runs. */
export const selectOfPerson = statement<Discrepancy>('discrepancies_of_person', { brand: 'text', user_id: 'text' })`
  select d.brand, d.run, d.n, d.field, d.user_id, d.direction, d.severity, d.crm_at, d.correction
  from ${rows} r join discrepancies d on d.user_id = r.user_id and d.brand = r.brand order by d.run, d.n`

/** Replaces the user by a digest, in the runs from before this one. */
export const eraseUserOf = statement<{ n: number }>({
  name: 'erase_discrepancies',
  columns: { brand: 'text', user_id: 'text', before: 'text', digest: 'text' },
  text: (rows) => `
    update discrepancies set user_id = r.digest from ${rows} r
    where discrepancies.user_id = r.user_id and discrepancies.brand = r.brand and discrepancies.run < r.before
    returning discrepancies.n as n`,
})
