// Row counts that triggers maintain in the transaction that changes the rows: no statement can bypass them, and reading a count
// never scans the counted table.

import type { Database, Migration, Statement } from './database.ts'
import { op, statement } from './statement.ts'

/** The contribution of each row to one count. The functions return SQL expressions for a given row name. */
export interface Count {
  readonly name: (row: string) => string
  readonly n: (row: string) => string
  /** The columns on which the count depends; absent: it never changes after the insert. */
  readonly of?: readonly string[]
}

export interface CountersOptions {
  /** The table of the counts: (scope, name, writer, n). */
  readonly table: string
  /** The table whose rows are counted. */
  readonly counted: string
  /** The column by which the counts are grouped: brand or lane. */
  readonly scope: 'brand' | 'lane'
  readonly counts: readonly Count[]
}

/**
 * The count of a scope is the sum over its writers. On PostgreSQL each session updates its own rows, so that processes do not
 * wait for each other's row locks; on SQLite there is one writer.
 *
 * @example counters({ table: 'lane_counts', counted: 'waiting', scope: 'lane', counts: [{ name: () => `'waiting'`, n: () => '1' }] })
 */
export function counters(options: CountersOptions): Migration {
  return {
    name: `${options.table}/${options.counted}`,
    brandTables: [{ table: options.table, [options.scope]: 'scope', derived: true }],
    statements: ({ engine, key }) => [
      `create table if not exists ${options.table} (
         scope ${key} not null, name ${key} not null, writer integer not null, n bigint not null,
         primary key (scope, name, writer))${engine === 'sqlite' ? ' without rowid' : ' with (fillfactor = 50)'}`,
      ...(engine === 'sqlite' ? sqliteTriggers(options) : postgresTriggers(options)),
    ],
  }
}

// SQLite runs a trigger for each row.
function sqliteTriggers({ table, counted, scope, counts }: CountersOptions): readonly string[] {
  const add = (row: string, name: string, n: string): string => `
    insert into ${table} (scope, name, writer, n) values (${row}.${scope}, ${name}, 0, ${n})
    on conflict (scope, name, writer) do update set n = n + excluded.n;`
  return counts.flatMap(({ name, n, of }, i) => [
    `create trigger ${counted}_inserted_${i} after insert on ${counted} when ${n('new')} <> 0 begin
       ${add('new', name('new'), n('new'))} end`,
    `create trigger ${counted}_deleted_${i} after delete on ${counted} when ${n('old')} <> 0 begin
       ${add('old', name('old'), `-(${n('old')})`)} end`,
    ...(of === undefined
      ? []
      : [
          `create trigger ${counted}_updated_${i} after update of ${of.join(', ')} on ${counted}
             when ${of.map((column) => `old.${column} <> new.${column}`).join(' or ')} begin
             ${add('old', name('old'), `-(${n('old')})`)} ${add('new', name('new'), n('new'))} end`,
        ]),
  ])
}

// PostgreSQL runs a trigger for each statement, with the old and new rows as transition tables.
function postgresTriggers({ table, counted, scope, counts }: CountersOptions): readonly string[] {
  const sums = (rows: string, sign: '' | '-', chosen: readonly Count[]): readonly string[] =>
    chosen.map(
      ({ name, n }) =>
        `select x.${scope} as scope, ${name('x')} as name, ${sign}sum(${n('x')}) as n from ${rows} x group by 1, 2`,
    )
  const trigger = (event: string, tables: string, parts: readonly string[]): readonly string[] => [
    `create function count_${counted}_${event}() returns trigger language plpgsql as $$ begin
       insert into ${table} (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (${parts.join(' union all ')}) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = ${table}.n + excluded.n;
       return null;
     end $$`,
    `create trigger ${counted}_${event} after ${event} on ${counted} referencing ${tables}
       for each statement execute function count_${counted}_${event}()`,
  ]
  const changing = counts.filter(({ of }) => of !== undefined)
  return [
    ...trigger('insert', 'new table as added', sums('added', '', counts)),
    ...trigger('delete', 'old table as removed', sums('removed', '-', counts)),
    ...(changing.length === 0
      ? []
      : trigger('update', 'old table as removed new table as added', [
          ...sums('removed', '-', changing),
          ...sums('added', '', changing),
        ])),
  ]
}

// On PostgreSQL each session counts in rows of its own. They are merged into the row of writer 0, without waiting for a session
// that is changing its rows.
const mergeWriters = (table: string): Statement =>
  statement(`merge_${table}`, {})`
    with merged as (
      delete from ${table} c using (
        select d.scope, d.name, d.writer from ${table} d where d.writer <> 0
        order by d.scope, d.name, d.writer for update skip locked) d
      where c.scope = d.scope and c.name = d.name and c.writer = d.writer
      returning c.scope, c.name, c.n)
    insert into ${table} (scope, name, writer, n)
    select m.scope, m.name, 0, sum(m.n) from merged m group by m.scope, m.name order by m.scope, m.name
    on conflict (scope, name, writer) do update set n = ${table}.n + excluded.n`

const deleteZeros = (table: string): Statement =>
  statement(`forget_${table}`, {})`delete from ${table} where writer = 0 and n = 0`

const maintenance = new Map<string, { readonly merge: Statement; readonly zeros: Statement }>()

/** Merges the counts of all writers of a table of counters(), and deletes counts of 0. */
export async function forgetZeroCounts(database: Database, table: string): Promise<void> {
  const { merge, zeros } = maintenance.get(table) ?? { merge: mergeWriters(table), zeros: deleteZeros(table) }
  maintenance.set(table, { merge, zeros })
  const remove = op(zeros, [[]])
  await database.commit(database.engine === 'postgres' ? [op(merge, [[]]), remove] : [remove])
}
