import type { Statement } from './database.ts'
import { type StatementDefinition, statement } from './statement.ts'

export interface NewRows extends Omit<StatementDefinition<object>, 'text' | 'each' | 'route'> {
  readonly table: string
  /** The columns of the unique key. */
  readonly key: string
  /** SQL expressions for columns with the same value in all new rows. */
  readonly also?: Readonly<Record<string, string>>
}

/**
 * Creates a statement that inserts the rows whose key does not exist yet, and leaves existing rows unchanged.
 *
 * @example
 * const insertRequests = insertNew({ name: 'insert_requests', table: 'requests', key: 'id', columns: { id: 'text', text: 'text' } })
 */
export function insertNew(rows: NewRows): Statement {
  const { table, key, also = {}, ...definition } = rows
  const columns = Object.keys(definition.columns)
  const into = `insert into ${table} (${[...columns, ...Object.keys(also)].join(', ')})`
  const withConstants = (values: readonly string[]): string => [...values, ...Object.values(also)].join(', ')
  const skipExisting = `on conflict (${key}) do nothing`
  return statement({
    ...definition,
    text: (set) =>
      `${into} select ${withConstants(columns.map((name) => `r.${name}`))} from ${set} r where true ${skipExisting}`,
    each: (row) => `${into} values (${withConstants([row])}) ${skipExisting}`,
  })
}
