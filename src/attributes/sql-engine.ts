// The interface of the two engines behind sqlSource().

import type { Field, LookUp, Snapshot } from './attribute-source.ts'

/** Runs the queries of one brand in PostgreSQL or SQLite. */
export interface Engine {
  findUsers(
    brand: string,
    users: readonly string[],
    queries: readonly Query[],
    lookUp: LookUp,
  ): Promise<readonly Found[]>
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
