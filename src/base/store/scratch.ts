import type { ColumnType, Value } from './value.ts'

/**
 * A chunk of texts to load into a table: UTF-8 lines that need no escaping in JSON, each ended by a newline, or plain texts.
 * The memory of `lines` is reused for the next chunk.
 */
export type Texts = { readonly lines: Uint8Array } | { readonly texts: readonly string[] }

/**
 * A separate connection to the database for long queries on large sets. It sees committed data, writes only its own temporary
 * tables, and delays no commits. On SQLite it runs in a worker thread.
 *
 * @example
 * const scratch = await database.scratch()
 * await scratch.load('mine', texts)
 * await scratch.run('select user_id from mine except select user_id from users where brand = $1', ['1'])
 * await scratch.close()
 */
export interface Scratch {
  readonly engine: 'sqlite' | 'postgres'
  /** Creates the table, with a column `text` that sorts by bytes, and loads it in bulk with bounded memory. */
  load(table: string, texts: AsyncIterable<Texts>): Promise<void>
  /** Returns up to three texts that occurred more than once in the table. */
  repeated(table: string): Promise<readonly string[]>
  /** Runs one statement with the parameters `$1`, `$2`, …. The tables that it creates are temporary. */
  run<Row extends object>(text: string, values?: readonly Value[]): Promise<readonly Row[]>
  /** Cancels the running statement and drops the tables. */
  close(): Promise<void>
}

/**
 * A temporary table of this process, to be joined with the tables of the database. On PostgreSQL it has a connection of its own.
 * On SQLite it belongs to the connection of the database: a statement holds the event loop, so it must select few rows.
 *
 * @example
 * const excluded = await database.scratchTable({ user_id: 'text', since: 'bigint' }) // the first column is the primary key
 * await excluded.fill([['1001', 0]])
 * await excluded.run(`select count(*) as n from messages m join ${excluded.name} e on e.user_id = m.user_id where m.brand = $1`, ['1'])
 * await excluded.close()
 */
export interface ScratchTable {
  readonly name: string
  /** Inserts all rows, some in each turn of the event loop. Call it once. */
  fill(rows: Iterable<readonly Value[]>): Promise<void>
  /** Runs one statement with the parameters `$1`, `$2`, …. */
  run<Row extends object>(text: string, values?: readonly Value[]): Promise<readonly Row[]>
  close(): Promise<void>
}

export type ScratchColumns = Readonly<Record<string, ColumnType>>

/** @example defineColumns({ id: 'text' }, 'text') // 'id text not null, primary key (id)' */
export function defineColumns(columns: ScratchColumns, key: string): string {
  const names = Object.keys(columns)
  const types = Object.values(columns).map((type) => (type === 'text' ? key : type))
  return [...names.map((name, i) => `${name} ${types[i]} not null`), `primary key (${names[0]})`].join(', ')
}

const rowsPerTurn = 2_000

export function* cutRows(rows: Iterable<readonly Value[]>): Generator<readonly (readonly Value[])[]> {
  let part: (readonly Value[])[] = []
  for (const row of rows) {
    part.push(row)
    if (part.length < rowsPerTurn) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
