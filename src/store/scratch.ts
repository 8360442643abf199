import type { Value } from './database.ts'

/**
 * Some texts on their way into a table: UTF-8 lines that need no escaping in JSON, each ended by a newline, or plain texts. Lines
 * are good until the next piece is asked for: their memory is used again.
 */
export type Texts = { readonly lines: Uint8Array } | { readonly texts: readonly string[] }

/**
 * A connection of its own beside the database, for long work on large sets: it sees what is committed, writes nothing but its
 * own tables, and holds up nobody who commits. On SQLite it works in a thread.
 *
 * @example
 * const scratch = await database.scratch()
 * await scratch.load('mine', texts)
 * await scratch.run('select user_id from mine except select user_id from users where brand = $1', ['1'])
 * await scratch.close()
 */
export interface Scratch {
  readonly engine: 'sqlite' | 'postgres'
  /** Makes the table, with a column `text` that sorts by bytes, and fills it as fast as the engine can, in bounded memory. */
  load(table: string, texts: AsyncIterable<Texts>): Promise<void>
  /** The texts of this table that came more than once, a few of them. */
  repeated(table: string): Promise<readonly string[]>
  /** One statement, its parameters written `$1`, `$2`, …; tables that it creates are gone with the connection. */
  run<Row extends object>(text: string, values?: readonly Value[]): Promise<readonly Row[]>
  /** Ends what runs, and forgets everything. */
  close(): Promise<void>
}
