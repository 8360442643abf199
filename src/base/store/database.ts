// The database interface. Two implementations: sqlite.ts (embedded, one process) and postgres.ts (several processes).

import type { BrandTable } from './brand-table.ts'
import type { Scratch, ScratchColumns, ScratchTable } from './scratch.ts'
import type { ColumnType, Value } from './value.ts'

export type { ColumnType, Value } from './value.ts'

/** A set-based statement with one text for both engines, which differ only in how they pass in `rows`. Created by statement(). */
export interface Statement<Out extends object = object> {
  readonly name: string
  /** Its place within a commit: see order.ts. */
  readonly place: number
  /** The columns of the input rows, in order. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** The names and types of `columns`, precomputed because rows are checked for each message. */
  readonly names: readonly string[]
  readonly types: readonly ColumnType[]
  /** Returns the SQL text. `rows` is a table expression for the input rows, with the columns of `columns`. */
  readonly text: (rows: string) => string
  /** Returns the SQL text for a single row with the values `?, ?, …`, where that is faster: see statement(). */
  readonly each?: (values: string) => string
  /** The output column that assigns a returned row to its caller: it equals the input column of the same name. */
  readonly route?: string
  /** The statement inserts, updates or deletes rows. */
  readonly changes: boolean
  /** The statement returns rows. Without a route it is run separately for each op. */
  readonly returns: boolean
  /** Returns `[{ complete }]` instead of rows: 1 if every input row, of all callers in the transaction, changed a row; else 0. */
  readonly complete?: true
  /** Never set: it only carries the type of the returned rows. */
  readonly out?: Out
}

/** One statement with its input rows, created by op(). Operations of different callers with the same statement are merged. */
export interface Op<Out extends object = object> {
  readonly statement: Statement<Out>
  readonly rows: readonly (readonly Value[])[]
}

export type Returned<Ops extends readonly Op[]> = {
  readonly [K in keyof Ops]: Ops[K] extends Op<infer Out> ? readonly Out[] : never
}

/** An exclusive lock, held until it is released, or until this process or its connection dies. */
export interface Ownership {
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** A SQLite file during a backup. */
export interface HeldFile {
  /** The file without its log. Its bytes do not change while it is held. Do not close it: that would release the locks of SQLite. */
  readonly file: FileRange
  /** The write-ahead log up to the last commit. Later commits are appended. */
  readonly log: FileRange
  /** @throws StoreUnavailable if the database was closed, and so the file may have changed */
  demandOpen(): void
  release(): void
}

/** The first bytes of an open file. */
export interface FileRange {
  readonly descriptor: number
  readonly bytes: number
}

export interface Database {
  readonly engine: 'sqlite' | 'postgres'
  /** The id of this process on its claims. It changes after a lost connection to PostgreSQL, so do not cache it. */
  readonly owner: string
  /**
   * Whether this process is still `owner`, so that no other process may take over its claims. On PostgreSQL the session must be
   * alive and the server must have answered within the lease. Check it in the same turn of the event loop as an external call:
   * a process that was suspended for longer than its lease must not send.
   */
  holdsLease(owner: string): boolean
  /**
   * Runs the operations in one transaction, merged with the operations of other callers (group commit), in the order of order.ts. Resolves with
   * the returned rows of each op, in the order of `ops`. The transaction is then durable; with `durable: false` it survives a
   * killed process, but possibly not a power failure, unless the store has several servers. An error rejects only the caller whose rows caused it; if the store is
   * unavailable, every caller gets StoreUnavailable. There are no interactive transactions.
   *
   * With `urgent: true` the operations go ahead of callers that wait already. `onWritten` is called when the transaction survives a
   * killed process; a durable commit resolves later.
   */
  commit<const Ops extends readonly Op[]>(
    ops: Ops,
    options?: { readonly durable?: boolean; readonly urgent?: boolean; readonly onWritten?: () => void },
  ): Promise<Returned<Ops>>
  /** Why the store can store nothing now: full disk, read-only server, lost connection. Undefined: it can. */
  readonly outage: string | undefined
  /** @throws StoreUnavailable if the store can store nothing. Tries a write, unless one succeeded in the last second. */
  checkWrites(): Promise<void>
  read<Out extends object>(op: Op<Out>): Promise<readonly Out[]>
  /**
   * As read(), for pages that people watch: all such reads of one turn of the event loop are one statement on PostgreSQL, however many viewers
   * there are. An error rejects all of them.
   */
  readMerged<Out extends object>(op: Op<Out>): Promise<readonly Out[]>
  /**
   * Acquires a named lock. Undefined: another process has it, or this process has it already. On PostgreSQL it is an advisory
   * lock of the committing connection, which the server ends when this process is silent for the lease. On SQLite only this
   * process can hold it. Check `lost` before each commit that needs the lock: the commit could run on a new connection.
   */
  own(name: string): Promise<Ownership | undefined>
  /** Returns the owners whose process is alive. On SQLite only this process. */
  alive(owners: readonly string[]): Promise<ReadonlySet<string>>
  /** An op that notifies the listeners of `topic` in all processes after the commit. A hint: it may be lost. */
  wake(topic: string): Op
  onWake(topic: string, listener: () => void): () => void
  /**
   * PostgreSQL only: drops the partitions of a partitioned table whose rows are all from before this time (epoch ms).
   *
   * @returns the number of partitions dropped
   */
  readonly dropPartitions?: (table: string, before: number) => Promise<number>
  /**
   * Removes the former contents of changed and deleted rows from the files. SQLite: empties the write-ahead log. PostgreSQL: vacuums
   * these tables, without those that another process vacuums now; the server overwrites the free space later.
   */
  reclaim(tables: readonly string[]): Promise<void>
  /**
   * SQLite only: keeps the file unchanged until it is released. All commits go to the write-ahead log meanwhile, which grows.
   * Undefined: the file is held already.
   */
  readonly holdFile?: () => HeldFile | undefined
  /** Opens a separate connection for long queries on large sets. On SQLite the database must be opened with `shared`. */
  scratch(): Promise<Scratch>
  /** Creates a temporary table, to be joined with the tables of this database. Its first column is the primary key. */
  scratchTable(columns: ScratchColumns): Promise<ScratchTable>
  close(): Promise<void>
}

/** A migration, defined in the file that owns its table. openDatabase() receives all of them and applies each once, in order. */
export interface Migration {
  /** Folder and number, such as 'queue/1'. */
  readonly name: string
  readonly statements: (type: Dialect) => readonly string[]
  /**
   * The oldest release that may use the store afterwards, such as '0.1.0'. A migration that only adds tables, indexes, and columns with a
   * default names the release before it, so that both run at once during an upgrade. Absent in the migrations of 0.1.0.
   */
  readonly readableFrom?: string
  /** The tables that it creates with `partitionedBy`. */
  readonly partitioned?: readonly PartitionedTable[]
  /** The tables that it creates for rows of brands, for moving a brand to another database. */
  readonly brandTables?: readonly BrandTable[]
}

/** A table that PostgreSQL partitions by day. */
export interface PartitionedTable {
  readonly table: string
  /** SQL: the least value of the partition column for rows from this time (epoch ms). */
  readonly bound: (ms: number) => string
}

export interface Dialect {
  readonly engine: 'sqlite' | 'postgres'
  /** A text column that sorts by bytes on both engines. */
  readonly key: string
  /** An auto-increment primary key column. */
  readonly serial: string
  /** Follows the columns of a table that is partitioned by day; empty on SQLite. The primary key contains the column. */
  readonly partitionedBy: (column: string) => string
}
