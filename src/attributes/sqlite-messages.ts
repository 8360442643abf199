// The messages between sqlite.ts and its reader process (sqlite-reader.ts).

import type { Field } from './attribute-source.ts'

export interface Part {
  readonly field: Field
  /** The operator's query, with the brand filled in. */
  readonly query: string
}

export interface LookUpRequest {
  readonly lookUp: number
  readonly users: readonly string[]
  readonly parts: readonly Part[]
  readonly asOf: string | undefined
  readonly maxLagMs: number | undefined
}

export interface ListRequest {
  readonly list: Part
  readonly asOf: string | undefined
}

export type ReaderMessage =
  | { readonly lookUp: number; readonly found: readonly { readonly field: Field; readonly user: string }[] }
  | { readonly lookUp: number; readonly error: string }
  /** The time of the list's data. The ids are written to standard output, which is a file. */
  | { readonly timestamp: string }
  /** The bytes and ids written so far; an id is never split. */
  | { readonly bytes: number; readonly ids: number }
  | { readonly error: string }
  /** All ids have been written. */
  | { readonly complete: true }
