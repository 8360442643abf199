// Runs: asked → streaming → comparing → done; refused with why, or no_source, from any of the first three. The row is all there
// is of a run: who asks for one puts it here, whoever owns the brand and field carries it out, and the history stays.

import type { ReconciliationField as Field } from '../contract/records.ts'
import { clock } from '../runtime/clock.ts'
import { uuidv7 } from '../runtime/ids.ts'
import type { Database, Migration, Value } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import type { Why } from './refusal.ts'

export const runStates = ['asked', 'streaming', 'comparing', 'done', 'refused', 'no_source'] as const
export type RunState = (typeof runStates)[number]
export const endStates: readonly RunState[] = ['done', 'refused', 'no_source']

/** A row, as it is stored; times in epoch milliseconds. */
export interface Run {
  readonly brand: string
  readonly run: string
  readonly field: Field
  readonly asked_at: number
  /** The key that asked, or 'schedule'. */
  readonly asked_by: string
  /** 1: whatever the size of the list. */
  readonly any_size: number
  state: RunState
  started_at: number | null
  ended_at: number | null
  /** The operator's timestamp: the time of its data. */
  data_at: number | null
  /** Ids and bytes read so far, and the most memory that the process had meanwhile. */
  ids: number
  bytes: number
  memory: number
  crm_users: number | null
  operator_only: number | null
  crm_only: number | null
  too_recent: number | null
  why: Why | null
  particulars: string | null
  acknowledged_at: number | null
  acknowledged_by: string | null
}

export const runMigrations: readonly Migration[] = [
  {
    name: 'reconcile/1',
    statements: ({ key }) => [
      `create table reconciliation_runs (
        brand ${key} not null, run ${key} not null, field text not null,
        asked_at bigint not null, asked_by text not null, any_size bigint not null,
        state text not null, started_at bigint, ended_at bigint, data_at bigint,
        ids bigint not null, bytes bigint not null, memory bigint not null,
        crm_users bigint, operator_only bigint, crm_only bigint, too_recent bigint,
        why text, particulars text, acknowledged_at bigint, acknowledged_by text,
        primary key (brand, run)
      )`,
      'create unique index reconciliation_runs_by_run on reconciliation_runs (run)',
      // One at a time, in whatever process.
      `create unique index reconciliation_runs_open on reconciliation_runs (brand, field)
       where state in ('asked', 'streaming', 'comparing')`,
    ],
  },
]

const insertRun = statement<{ run: string }>({
  name: 'ask_reconciliation',
  rank: 210,
  columns: { brand: 'text', run: 'text', field: 'text', at: 'bigint', by: 'text', any_size: 'bigint' },
  route: 'run',
  text: (rows) => `
    insert into reconciliation_runs (brand, run, field, asked_at, asked_by, any_size, state, ids, bytes, memory)
    select r.brand, r.run, r.field, r.at, r.by, r.any_size, 'asked', 0, 0, 0 from ${rows} r where true
    on conflict do nothing returning run`,
})

export const runTopic = 'reconciliation'

/**
 * Puts a run, unless one of this brand and field is open.
 *
 * @returns its name; undefined: one is open already
 */
export async function askRun(
  database: Database,
  brand: string,
  field: Field,
  by: string,
  anySize = false,
): Promise<string | undefined> {
  const row = [brand, uuidv7(), field, clock.now(), by, Number(anySize)]
  const [inserted] = await database.commit([op(insertRun, [row]), database.wake(runTopic)])
  return inserted[0]?.run
}

const columns = `brand, run, field, asked_at, asked_by, any_size, state, started_at, ended_at, data_at, ids, bytes, memory,
  crm_users, operator_only, crm_only, too_recent, why, particulars, acknowledged_at, acknowledged_by`
const ofTable = columns.replaceAll(/\w+/g, 't.$&')

const selectRun = statement<Run>({
  name: 'read_reconciliation',
  rank: 0,
  columns: { run: 'text' },
  text: (rows) => `select ${ofTable} from ${rows} r join reconciliation_runs t on t.run = r.run`,
})

export async function readRun(database: Database, run: string): Promise<Run | undefined> {
  const [row] = await database.read(op(selectRun, [[run]]))
  return row
}

// Names of runs begin with their time. The last done one, too, where it is not the last of all.
const selectLatest = statement<Run>({
  name: 'latest_reconciliations',
  rank: 0,
  columns: { brand: 'text', field: 'text' },
  text: (rows) => `
    select ${ofTable} from ${rows} r join reconciliation_runs t on t.brand = r.brand and t.field = r.field
    where t.run = (select max(l.run) from reconciliation_runs l where l.brand = r.brand and l.field = r.field)
      or t.run = (select max(l.run) from reconciliation_runs l where l.brand = r.brand and l.field = r.field and l.state = 'done')
    order by t.run`,
})

export interface Latest {
  /** The newest, whatever became of it. */
  readonly last: Run | undefined
  readonly lastDone: Run | undefined
}

export async function latestRuns(database: Database, brand: string, field: Field): Promise<Latest> {
  const rows = await database.read(op(selectLatest, [[brand, field]]))
  return { last: rows.at(-1), lastDone: rows.findLast(({ state }) => state === 'done') }
}

const selectPage = statement<Run>({
  name: 'list_reconciliations',
  rank: 0,
  columns: { brand: 'text', field: 'text', before: 'text', most: 'bigint' },
  text: (rows) => `
    select ${ofTable} from ${rows} r join reconciliation_runs t
      on t.brand = r.brand and (r.field is null or t.field = r.field) and (r.before is null or t.run < r.before)
    order by t.run desc limit (select max(m.most) from ${rows} m)`,
})

/** The newest first, of these brands; `before` is the last name of the page before. */
export async function listRuns(
  database: Database,
  brands: readonly string[],
  field: Field | undefined,
  before: string | undefined,
  most: number,
): Promise<readonly Run[]> {
  return database.read(
    op(
      selectPage,
      brands.map((brand) => [brand, field ?? null, before ?? null, most]),
    ),
  )
}

const updateRun = statement<{ run: string }>({
  name: 'save_reconciliation',
  rank: 211,
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
    particulars: 'text',
  },
  route: 'run',
  // What has ended stays as it is, whoever wakes up late.
  text: (rows) => `
    update reconciliation_runs set state = r.state, started_at = r.started_at, ended_at = r.ended_at, data_at = r.data_at,
      ids = r.ids, bytes = r.bytes, memory = r.memory, crm_users = r.crm_users, operator_only = r.operator_only,
      crm_only = r.crm_only, too_recent = r.too_recent, why = r.why, particulars = r.particulars
    from ${rows} r
    where reconciliation_runs.brand = r.brand and reconciliation_runs.run = r.run
      and reconciliation_runs.state in ('asked', 'streaming', 'comparing')
    returning reconciliation_runs.run`,
})

/** @returns false: it had ended already */
export async function saveRun(database: Database, run: Run): Promise<boolean> {
  const values = Object.keys(updateRun.columns).map((name) => run[name as keyof Run] as Value)
  const [saved] = await database.commit([op(updateRun, [values])])
  return saved.length === 1
}

const acknowledge = statement<{ run: string }>({
  name: 'acknowledge_reconciliation',
  rank: 212,
  columns: { brand: 'text', run: 'text', at: 'bigint', by: 'text' },
  route: 'run',
  text: (rows) => `
    update reconciliation_runs set acknowledged_at = r.at, acknowledged_by = r.by from ${rows} r
    where reconciliation_runs.brand = r.brand and reconciliation_runs.run = r.run and reconciliation_runs.acknowledged_at is null
    returning reconciliation_runs.run`,
})

/** Somebody has seen it. The first one's name stays. */
export async function acknowledgeRun(database: Database, brand: string, run: string, by: string): Promise<void> {
  await database.commit([op(acknowledge, [[brand, run, clock.now(), by]])])
}
