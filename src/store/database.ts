// The joint to the database. Two implementations: sqlite.ts (embedded, one process) and postgres.ts (several processes).

import type { Scratch } from './scratch.ts'

export type Value = string | number | null
export type ColumnType = 'text' | 'bigint'

/** A set-based statement: one text for both engines; only how `rows` come in differs. Made by statement() in statement.ts. */
export interface Statement<Out extends object = object> {
  readonly name: string
  /** Order inside a commit: equal for all processes, so that two commits never wait for each other in a circle. */
  readonly rank: number
  /** The input rows' columns, in order. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Their names and types, made once: rows are checked for each message. */
  readonly names: readonly string[]
  readonly types: readonly ColumnType[]
  /** The text, given the name of the input rows as a table expression, with one column for each of `columns`. */
  readonly text: (rows: string) => string
  /** The same for one row, given its values as `?, ?, …`, where that is quicker: see statement(). */
  readonly each?: (values: string) => string
  /** Returned rows find their way back to their caller by this column, which equals the input column of that name. */
  readonly route?: string
  /** It returns rows: without a route it is run for each op by itself. */
  readonly returns: boolean
  /** It returns `[{ complete }]` instead: 1 if each input row changed a row, of all callers in the transaction; else 0. */
  readonly complete?: true
  /** Never there: it carries the type of the returned rows. */
  readonly out?: Out
}

/** One statement with its input rows, made by op(). Operations with the same statement are merged across callers. */
export interface Op<Out extends object = object> {
  readonly statement: Statement<Out>
  readonly rows: readonly (readonly Value[])[]
}

export type Returned<Ops extends readonly Op[]> = {
  readonly [K in keyof Ops]: Ops[K] extends Op<infer Out> ? readonly Out[] : never
}

/** Held until released, or until this process or its connection dies. */
export interface Ownership {
  readonly lost: AbortSignal
  release(): Promise<void>
}

export interface Database {
  readonly engine: 'sqlite' | 'postgres'
  /** This process; stored on claims. New at each open, and on PostgreSQL after a lost connection: read it when it is needed. */
  readonly owner: string
  /**
   * Whether this process is still `owner`, and nobody may take over its claims: on PostgreSQL the session lives and was heard by the
   * server within the lease. To be asked in the very turn of a call to the outside: a process that slept past its lease must not
   * send.
   */
  holdsLease(owner: string): boolean
  /**
   * One transaction, merged with whatever else waits (group commit). Durable when it resolves, unless `durable: false`:
   * then it survives a killed process but perhaps not a power cut. Rejects only the guilty caller; with StoreUnavailable
   * if the store is away. No interactive transactions. Resolves with the returned rows of each op, in order. Statements
   * run by rank, not in the order of `ops`.
   */
  commit<const Ops extends readonly Op[]>(ops: Ops, options?: { readonly durable?: boolean }): Promise<Returned<Ops>>
  read<Out extends object>(op: Op<Out>): Promise<readonly Out[]>
  /**
   * PostgreSQL: an advisory lock of the committing connection, which the server ends when this process is silent for the
   * lease. SQLite: always ours, once. Undefined: somebody has it, perhaps this very process. Who works under an ownership
   * looks at `lost` before each commit: a commit may go through on the next connection.
   */
  own(name: string): Promise<Ownership | undefined>
  /** Which of these processes live. On SQLite only this one. */
  alive(owners: readonly string[]): Promise<ReadonlySet<string>>
  /** An op that tells every listener to `topic`, in every process, after the commit. A hint, may be lost. */
  wake(topic: string): Op
  onWake(topic: string, listener: () => void): () => void
  /**
   * PostgreSQL only: drops the partitions of a partitioned table whose rows are all from before this time (epoch ms).
   *
   * @returns the number of partitions dropped
   */
  readonly dropPartitions?: (table: string, before: number) => Promise<number>
  /** A connection of its own for long work on large sets. On SQLite only of a database that was opened with `shared`. */
  scratch(): Promise<Scratch>
  close(): Promise<void>
}

/** Tables are created by their owner's file; the composition hands all migrations to openDatabase(). Applied once each, in order. */
export interface Migration {
  /** Folder and number: 'queue/1'. */
  readonly name: string
  readonly statements: (type: Dialect) => readonly string[]
  /** The tables that it creates with `partitionedBy`. */
  readonly partitioned?: readonly PartitionedTable[]
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
  /** A column of our own numbering, primary key, increasing. */
  readonly serial: string
  /** Follows the columns of a table that is partitioned by day; empty on SQLite. The primary key contains the column. */
  readonly partitionedBy: (column: string) => string
}
