import type { Op, Statement, Value } from './database.ts'
import { placeOf } from './order.ts'

export interface StatementDefinition<Out extends object>
  extends Omit<Statement<Out>, 'place' | 'names' | 'types' | 'route' | 'changes' | 'returns' | 'out'> {
  readonly route?: keyof Out & string
}

/**
 * Defines a set-based statement. Define each one once, at the top of the file that owns the table: prepared statements and the
 * merging of callers use the identity of this object. A statement that is committed has a place in order.ts. `Out` is the type of the returned rows.
 *
 * `rows` in the text stands for a table expression of the input rows; it needs an alias, and may be there several times. The text must
 * be valid for both engines and for the merged rows of several callers, which may contain the same key twice.
 * `insert … select … on conflict` needs `where true` before `on conflict` (SQLite's grammar). Booleans are returned as 0 and 1,
 * numbers as safe integers.
 *
 * `route`: a returned row belongs to the caller whose input row has the same value in the column of that name, so callers with
 * different values can be merged. A statement that returns rows but has no route is run separately for each op.
 *
 * `complete`: each caller gets `[{ complete: 1 }]` if every input row changed a row; no other rows are returned. On 0 the
 * caller must query the rows, since rows of other callers count too.
 *
 * `each`: the statement for a single row, if it returns no rows: `insert into … values (${values}) …`. SQLite then runs it row
 * by row, at three quarters of the cost of the set.
 *
 * @example
 * const insertUsers = statement<{ id: string }>('insert_users', { brand: 'text', id: 'text', at: 'bigint' }, { route: 'id' })`
 *   insert into users (brand, id, at) select r.brand, r.id, r.at from ${rows} r where true
 *   on conflict (brand, id) do nothing returning id`
 * const [inserted] = await database.commit([op(insertUsers, [['1', '1001', Date.now()]])])
 */
export function statement<Out extends object = object>(
  name: string,
  columns: Statement['columns'],
  options?: Pick<StatementDefinition<Out>, 'route' | 'complete'>,
): (text: TemplateStringsArray, ...values: readonly (string | number)[]) => Statement<Out>
/** For a statement with `each`, or with columns that fill a line. */
export function statement<Out extends object = object>(definition: StatementDefinition<Out>): Statement<Out>
export function statement(
  given: StatementDefinition<object> | string,
  columns: Statement['columns'] = {},
  options: object = {},
): Statement | ((text: TemplateStringsArray, ...values: readonly (string | number)[]) => Statement) {
  if (typeof given !== 'string') return define(given)
  return (parts, ...values) => {
    const text = String.raw({ raw: parts }, ...values)
    return define({ ...options, name: given, columns, text: (expression) => text.replaceAll(rows, () => expression) })
  }
}

/** The place of the input rows in the text of a statement. */
export const rows = '{rows}'

function define(definition: StatementDefinition<object>): Statement {
  const { name, columns, route, text, each, complete } = definition
  if (route !== undefined && !(route in columns)) {
    throw new TypeError(
      `Statement ${name}: its route ${route} must be one of its input columns ${Object.keys(columns).join(', ')}`,
    )
  }
  const changes = /\b(insert|update|delete)\b/i.test(text('rows'))
  const returns = !changes || /\breturning\b/i.test(text('rows'))
  if ((each || complete) && returns) throw new TypeError(`Statement ${name}: with each or complete it returns no rows`)
  return Object.freeze({
    ...definition,
    place: placeOf(name),
    names: Object.keys(columns),
    types: Object.values(columns),
    changes,
    returns,
  })
}

/** One statement with its input rows, for commit() or read(). A statement without columns needs one empty row: `[[]]`. */
export function op<Out extends object>(statement: Statement<Out>, rows: Op['rows']): Op<Out>
/** One statement with an input row for each item. @example op(insertUsers, users, ({ brand, id }) => [brand, id, now]) */
export function op<Out extends object, Item>(
  statement: Statement<Out>,
  items: readonly Item[],
  rowOf: (item: Item) => readonly Value[],
): Op<Out>
export function op(statement: Statement, items: readonly unknown[], rowOf?: (item: unknown) => readonly Value[]): Op {
  return { statement, rows: rowOf ? items.map((item) => rowOf(item)) : (items as Op['rows']) }
}
