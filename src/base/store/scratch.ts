import type { Value } from './value.ts'

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
