// The table of runs. States: requested → streaming → comparing → done. From the first three, a run may also end as refused, with a
// reason, or as no_source. A request inserts the row, the owner of the brand and field executes the run, and the row remains.

import { clock } from '../../base/runtime/clock.ts'
import { firstUuidv7, timeOfUuidv7, uuidv7 } from '../../base/runtime/ids.ts'
import type { Database, Migration, Op, Value } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import type { RefusalReason } from './answer-refused.ts'

export const runStates = ['requested', 'streaming', 'comparing', 'done', 'refused', 'no_source'] as const
export type RunState = (typeof runStates)[number]
export const endStates: readonly RunState[] = ['done', 'refused', 'no_source']

/** A row of the table. Times are in epoch milliseconds. */
export interface ReconciliationRun {
  readonly brand: string
  readonly run: string
  readonly field: Field
  readonly requested_at: number
  /** The name of the key that requested the run, or 'schedule'. */
  readonly requested_by: string
  /** 1: a list of any size is accepted. */
  readonly any_size: number
  state: RunState
  started_at: number | null
  ended_at: number | null
  /** The operator's timestamp: the time of its data. */
  data_at: number | null
  /** Ids and bytes that were read so far, and the peak memory of the process during the run. */
  ids: number
  bytes: number
  memory: number
  crm_users: number | null
  operator_only: number | null
  crm_only: number | null
  too_recent: number | null
  why: RefusalReason | null
  detail: string | null
  acknowledged_at: number | null
  acknowledged_by: string | null
}

export const runMigrations: readonly Migration[] = [
  {
    name: 'reconcile/1',
    statements: ({ key }) => [
      `create table reconciliation_runs (
        brand ${key} not null, run ${key} not null, field text not null,
        requested_at bigint not null, requested_by text not null, any_size bigint not null,
        state text not null, started_at bigint, ended_at bigint, data_at bigint,
        ids bigint not null, bytes bigint not null, memory bigint not null,
        crm_users bigint, operator_only bigint, crm_only bigint, too_recent bigint,
        why text, detail text, acknowledged_at bigint, acknowledged_by text,
        primary key (brand, run)
      )`,
      'create unique index reconciliation_runs_by_run on reconciliation_runs (run)',
      // At most one open run of a brand and field, across all processes.
      `create unique index reconciliation_runs_open on reconciliation_runs (brand, field)
       where state in ('requested', 'streaming', 'comparing')`,
    ],
    brandTables: [{ table: 'reconciliation_runs', brand: 'brand' }],
  },
]

const insertRun = statement<{ run: string }>({
  name: 'request_reconciliation',
  columns: { brand: 'text', run: 'text', field: 'text', at: 'bigint', by: 'text', any_size: 'bigint' },
  route: 'run',
  text: (rows) => `
    insert into reconciliation_runs (brand, run, field, requested_at, requested_by, any_size, state, ids, bytes, memory)
    select r.brand, r.run, r.field, r.at, r.by, r.any_size, 'requested', 0, 0, 0 from ${rows} r where true
    on conflict do nothing returning run`,
})

export const runTopic = 'reconciliation'

/** @returns the name of the new run; undefined: a run of this brand and field is already open */
export async function requestRun(
  database: Database,
  brand: string,
  field: Field,
  by: string,
  anySize = false,
  also: readonly Op[] = [],
): Promise<string | undefined> {
  const { last } = await readLatestRuns(database, brand, field)
  const row = [brand, nameAfter(last?.run), field, clock.now(), by, Number(anySize)]
  const [inserted] = await database.commit([op(insertRun, [row]), database.wake(runTopic), ...also])
  return inserted[0]?.run
}

/** The name of a new run, which sorts after the last run even if the clock was set back since. */
function nameAfter(last: string | undefined): string {
  const name = uuidv7()
  if (last === undefined || name > last) return name
  return (
    firstUuidv7((timeOfUuidv7(last) ?? 0) + 1).slice(0, '01234567-8901-'.length) + name.slice('01234567-8901-'.length)
  )
}

const columns = `brand, run, field, requested_at, requested_by, any_size, state, started_at, ended_at, data_at, ids, bytes, memory,
  crm_users, operator_only, crm_only, too_recent, why, detail, acknowledged_at, acknowledged_by`
const ofTable = columns.replaceAll(/\w+/g, 't.$&')

const selectRun = statement<ReconciliationRun>('read_reconciliation', { run: 'text' }, { route: 'run' })`
  select ${ofTable} from ${rows} r join reconciliation_runs t on t.run = r.run`

export async function readRun(database: Database, run: string): Promise<ReconciliationRun | undefined> {
  const [row] = await database.readMerged(op(selectRun, [[run]]))
  return row
}

// Names of runs begin with their time, so max() is the newest run.
const selectLatest = statement<ReconciliationRun>('latest_reconciliations', { brand: 'text', field: 'text' })`
  select ${ofTable} from ${rows} r join reconciliation_runs t on t.brand = r.brand and t.field = r.field
  where t.run = (select max(l.run) from reconciliation_runs l where l.brand = r.brand and l.field = r.field)
    or t.run = (select max(l.run) from reconciliation_runs l where l.brand = r.brand and l.field = r.field and l.state = 'done')
  order by t.run`

export interface LatestRuns {
  /** The newest run, in any state. */
  readonly last: ReconciliationRun | undefined
  readonly lastDone: ReconciliationRun | undefined
}

export async function readLatestRuns(database: Database, brand: string, field: Field): Promise<LatestRuns> {
  const rows = await database.read(op(selectLatest, [[brand, field]]))
  return { last: rows.at(-1), lastDone: rows.findLast(({ state }) => state === 'done') }
}

/** The last good run of each of these lists, if there is one. */
export async function readLastDone(
  database: Database,
  lists: readonly (readonly [brand: string, field: Field])[],
): Promise<readonly ReconciliationRun[]> {
  if (lists.length === 0) return []
  const rows = await database.read(op(selectLatest, lists))
  const done = rows.filter(({ state }) => state === 'done')
  return [...new Map(done.map((run) => [`${run.brand} ${run.field}`, run])).values()]
}

const selectPage = statement<ReconciliationRun>({
  name: 'list_reconciliations',
  columns: { brand: 'text', field: 'text', before: 'text', most: 'bigint' },
  text: (rows) => `
    select ${ofTable} from ${rows} r join reconciliation_runs t
      on t.brand = r.brand and (r.field is null or t.field = r.field) and (r.before is null or t.run < r.before)
    order by t.run desc limit (select max(m.most) from ${rows} m)`,
})

/** Lists the runs of these brands, newest first. `before` is the name of the last run of the previous page. */
export async function listRuns(
  database: Database,
  brands: readonly string[],
  field: Field | undefined,
  before: string | undefined,
  limit: number,
): Promise<readonly ReconciliationRun[]> {
  return database.readMerged(op(selectPage, brands, (brand) => [brand, field ?? null, before ?? null, limit]))
}

const updateRun = statement<{ run: string }>({
  name: 'save_reconciliation',
  columns: {
    brand: 'text',
    run: 'text',
    state: 'text',
    started_at: 'bigint',
    ended_at: 'bigint',
    data_at: 'bigint',
    ids: 'bigint',
    bytes: 'bigint',
    memory: 'bigint',
    crm_users: 'bigint',
    operator_only: 'bigint',
    crm_only: 'bigint',
    too_recent: 'bigint',
    why: 'text',
    detail: 'text',
  },
  route: 'run',
  // A run that has ended is never changed, even by a process that continues late.
  text: (rows) => `
    update reconciliation_runs set state = r.state, started_at = r.started_at, ended_at = r.ended_at, data_at = r.data_at,
      ids = r.ids, bytes = r.bytes, memory = r.memory, crm_users = r.crm_users, operator_only = r.operator_only,
      crm_only = r.crm_only, too_recent = r.too_recent, why = r.why, detail = r.detail
    from ${rows} r
    where reconciliation_runs.brand = r.brand and reconciliation_runs.run = r.run
      and reconciliation_runs.state in ('requested', 'streaming', 'comparing')
    returning reconciliation_runs.run`,
})

export async function saveRun(database: Database, run: ReconciliationRun): Promise<void> {
  const values = Object.keys(updateRun.columns).map((name) => run[name as keyof ReconciliationRun] as Value)
  await database.commit([op(updateRun, [values])])
}

const updateAcknowledged = statement<{ run: string }>({
  name: 'acknowledge_reconciliation',
  columns: { brand: 'text', run: 'text', at: 'bigint', by: 'text' },
  route: 'run',
  text: (rows) => `
    update reconciliation_runs set acknowledged_at = r.at, acknowledged_by = r.by from ${rows} r
    where reconciliation_runs.brand = r.brand and reconciliation_runs.run = r.run and reconciliation_runs.acknowledged_at is null
    returning reconciliation_runs.run`,
})

/** Stores who has seen the run. Only the first acknowledgement is stored. */
export async function acknowledgeRun(
  database: Database,
  brand: string,
  run: string,
  by: string,
  also: readonly Op[] = [],
): Promise<void> {
  await database.commit([op(updateAcknowledged, [[brand, run, clock.now(), by]]), ...also])
}
