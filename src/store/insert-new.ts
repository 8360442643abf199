import type { Statement } from './database.ts'
import { type StatementDefinition, statement } from './statement.ts'

export interface NewRows extends Omit<StatementDefinition<object>, 'text' | 'each' | 'route'> {
  readonly table: string
  /** The columns that tell rows apart. */
  readonly key: string
  /** What is the same for all new rows, as SQL. */
  readonly also?: Readonly<Record<string, string>>
}

/**
 * Writes the rows that are not there yet, and leaves those that are as they are.
 *
 * @example
 * const insertRequests = insertNew({ name: 'insert_requests', rank: 21, table: 'requests', key: 'id', columns: { id: 'text', text: 'text' } })
 */
export function insertNew(rows: NewRows): Statement {
  const { table, key, also = {}, ...definition } = rows
  const given = Object.keys(definition.columns)
  const into = `insert into ${table} (${[...given, ...Object.keys(also)].join(', ')})`
  const values = (of: readonly string[]): string => [...of, ...Object.values(also)].join(', ')
  const leave = `on conflict (${key}) do nothing`
  return statement({
    ...definition,
    text: (set) => `${into} select ${values(given.map((name) => `r.${name}`))} from ${set} r where true ${leave}`,
    each: (row) => `${into} values (${values([row])}) ${leave}`,
  })
}
