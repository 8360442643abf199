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
 * With `complete`, each caller gets `[{ complete: 1 }]` if every input row changed a row, without a row returned for each. With 0 a
 * caller looks for itself: rows of other callers count too.
 *
 * `each`: the same for one row, where the statement returns nothing: `insert into … values (${values}) …`. SQLite then runs it row by
 * row, at three quarters of what the set costs.
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
  const { name, columns, route, text, each, complete } = definition
  if (route !== undefined && !(route in columns)) {
    throw new TypeError(
      `Statement ${name}: its route ${route} must be one of its input columns ${Object.keys(columns).join(', ')}`,
    )
  }
  const returns = returnsRows(text('rows'))
  if ((each || complete) && returns) throw new TypeError(`Statement ${name}: with each or complete it returns no rows`)
  return Object.freeze({ ...definition, names: Object.keys(columns), types: Object.values(columns), returns })
}

function returnsRows(text: string): boolean {
  return /\breturning\b/i.test(text) || !/\b(insert|update|delete)\b/i.test(text)
}

/** One statement with its input rows, to hand to commit() or read(). A statement without columns takes one empty row: `[[]]`. */
export function op<Out extends object>(statement: Statement<Out>, rows: readonly (readonly Value[])[]): Op<Out> {
  return { statement, rows }
}
