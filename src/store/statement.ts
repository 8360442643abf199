import type { Op, Statement, Value } from './database.ts'

export interface StatementDefinition<Out extends object>
  extends Omit<Statement<Out>, 'names' | 'types' | 'route' | 'returns' | 'out'> {
  readonly route?: keyof Out & string
}

/**
 * Describes a set-based statement. Make each one once, at the top of the file that owns the table: prepared statements
 * and the merging of callers go by this very object. `Out` is what its returned rows look like.
 *
 * The text is given a table expression for its input rows, may use it several times and gives it an alias. It means the
 * same on both engines and with the rows of several callers at once: rows of different callers may name the same key.
 * `insert … select … on conflict` needs `where true` before `on conflict` (SQLite's grammar). Booleans come back as 0 and
 * 1, numbers as safe integers.
 *
 * With `route`, returned rows go back to the caller that put in the same value in the column of that name, so callers
 * with different values are merged. A statement that returns rows and has no route is run for each op by itself.
 *
 * `each`: what a plain insert says of one row, `insert into … values (${values}) …`, or an update by key, `… where (a, b) = (${values})`.
 * SQLite then runs it row by row, at three quarters of what the set costs. It may return nothing, or by its route, which no
 * two rows share, how many rows were `written`, where those are more than none.
 *
 * @example
 * const insertUsers = statement<{ id: string }>({
 *   name: 'insert_users',
 *   rank: 10,
 *   columns: { brand: 'text', id: 'text', at: 'bigint' },
 *   route: 'id',
 *   text: (rows) => `
 *     insert into users (brand, id, at) select r.brand, r.id, r.at from ${rows} r where true
 *     on conflict (brand, id) do nothing returning id`,
 * })
 * const [inserted] = await database.commit([op(insertUsers, [['1', '1001', Date.now()]])])
 */
export function statement<Out extends object = object>(definition: StatementDefinition<Out>): Statement<Out> {
  const { name, columns, route, text, each } = definition
  if (route !== undefined && !(route in columns)) {
    throw new TypeError(
      `Statement ${name}: its route ${route} must be one of its input columns ${Object.keys(columns).join(', ')}`,
    )
  }
  const returns = returnsRows(text('rows'))
  if (each && returns && (route === undefined || !/\bas written\b/.test(text('rows'))))
    throw new TypeError(`Statement ${name}: run for each, it can only tell by its route how many rows were written`)
  return Object.freeze({ ...definition, names: Object.keys(columns), types: Object.values(columns), returns })
}

function returnsRows(text: string): boolean {
  return /\breturning\b/i.test(text) || !/\b(insert|update|delete)\b/i.test(text)
}

/** One statement with its input rows, to hand to commit() or read(). A statement without columns takes one empty row: `[[]]`. */
export function op<Out extends object>(statement: Statement<Out>, rows: readonly (readonly Value[])[]): Op<Out> {
  return { statement, rows }
}
