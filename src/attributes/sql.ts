// Queries of the operator's own database: any query for each field that gives the users for whom it is true.

import { hidePassword } from '../store/postgres-address.ts'
import { type AttributeSource, type Field, fields, type LookUp, type Snapshot } from './attribute-source.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

export interface SqlOptions {
  /** 'postgres://…' or 'sqlite:PATH'. It is only read. */
  readonly database: string
  /**
   * For each field a query with one column: the ids of the users for whom it is true. `:brand` stands for the brand.
   *
   * @example { blocked: 'select player_id from players where brand_id = :brand and blocked' }
   */
  readonly queries: Readonly<Partial<Record<Field, string>>>
  /** A query for one value: the time of the data. Left out: the server's clock, on a standby that of the last transaction replayed. */
  readonly asOf?: string
  /** A look-up in data older than this cannot answer. Left out: the age is not looked at. */
  readonly maxLagMs?: number
}

/** What an engine does with one brand's queries. */
export interface Engine {
  look(brand: string, users: readonly string[], queries: readonly Query[], lookUp: LookUp): Promise<readonly Found[]>
  list(brand: string, query: Query, signal: AbortSignal): Promise<Snapshot>
  close(): Promise<void>
}
export interface Query {
  readonly field: Field
  readonly text: string
}
export interface Found {
  readonly field: Field
  readonly user: string
}

export interface EngineOptions {
  readonly asOf?: string | undefined
  readonly maxLagMs?: number | undefined
}

/**
 * A source that asks the operator's database, PostgreSQL or SQLite. The same query answers reconciliation as it stands, and
 * look-ups inside one that asks for some users. Nothing is connected to before the first question.
 *
 * @example
 * sqlSource({ database: 'postgres://reader@db/players', queries: {
 *   excluded: 'select player_id from exclusions where brand_id = :brand and until > now()',
 * } })
 */
export function sqlSource(options: SqlOptions): AttributeSource {
  const { database, queries, asOf, maxLagMs } = options
  const known = fields.filter((field) => queries[field] !== undefined)
  const engineOptions = { asOf, maxLagMs }
  const engine = database.startsWith('sqlite:')
    ? openSqlite(database.slice('sqlite:'.length), engineOptions)
    : openPostgres(database, engineOptions)
  const query = (field: Field): Query => {
    const text = queries[field]
    if (text === undefined) throw new Error(`there is no query for ${field}`)
    return { field, text: text.trim().replace(/;$/, '') }
  }
  return {
    name: hidePassword(database),
    fields: known,
    async among(brand, userIds, asked, lookUp) {
      const wanted = new Set(userIds)
      const answer = new Map(asked.map((field) => [field, new Set<string>()]))
      // A collation may call more equal than we do: ids are compared to the letter.
      for (const { field, user } of await engine.look(brand, userIds, asked.map(query), lookUp))
        if (wanted.has(user)) answer.get(field)?.add(user)
      return answer
    },
    all: (brand, field, { signal }) => engine.list(brand, query(field), signal),
    close: () => engine.close(),
  }
}
