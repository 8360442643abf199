// The operator's own database as a source: for each field, a query that returns the users for whom it is true.

import { hidePassword } from '../../base/store/postgres-address.ts'
import { type AttributeSource, type Field, fields } from './attribute-source.ts'
import { openPostgres, type Query } from './postgres.ts'

export interface SqlOptions {
  /** 'postgres://…'. Opened read-only. */
  readonly database: string
  /**
   * For each field, a query with one column: the ids of the users for whom it is true. `:brand` is replaced by the brand.
   *
   * @example { blocked: 'select player_id from players where brand_id = :brand and blocked' }
   */
  readonly queries: Readonly<Partial<Record<Field, string>>>
  /** A query that returns the time of the data. Default: the server's clock, or on a standby the last replayed transaction. */
  readonly asOf?: string
  /** A look-up fails if the data is older than this. Default: no limit. */
  readonly maxLagMs?: number
}

/**
 * A source that queries the operator's PostgreSQL database. Reconciliation runs the configured query unchanged; a
 * look-up wraps it in a query that filters by user. The database is not opened before the first query.
 *
 * @throws if the address is not that of a PostgreSQL database
 * @example
 * sqlSource({ database: 'postgres://reader@db/players', queries: {
 *   excluded: 'select player_id from exclusions where brand_id = :brand and until > now()',
 * } })
 */
export function sqlSource(options: SqlOptions): AttributeSource {
  const { database, queries, asOf, maxLagMs } = options
  const known = fields.filter((field) => queries[field] !== undefined)
  if (!/^postgres(ql)?:/.test(database))
    throw new Error(
      'the database of a source must be postgres://USER:PASSWORD@HOST/DATABASE; for others use a file, http or a module',
    )
  const postgres = openPostgres(database, { asOf, maxLagMs })
  const query = (field: Field): Query => {
    const text = queries[field]
    if (text === undefined) throw new Error(`there is no query for ${field}`)
    return { field, text: text.trim().replace(/;$/, '') }
  }
  return {
    name: hidePassword(database),
    fields: known,
    async among(brand, userIds, requested, lookUp) {
      const requestedUsers = new Set(userIds)
      const answer = new Map(requested.map((field) => [field, new Set<string>()]))
      // A collation may treat different ids as equal, so the ids are compared here once more, exactly.
      for (const { field, user } of await postgres.findUsers(brand, userIds, requested.map(query), lookUp))
        if (requestedUsers.has(user)) answer.get(field)?.add(user)
      return answer
    },
    all: (brand, field, { signal }) => postgres.list(brand, query(field), signal),
    close: () => postgres.close(),
  }
}
