// What sqlite.ts and the process that reads for it (sqlite-reader.ts) say to each other.

import type { Field } from './attribute-source.ts'

export interface Part {
  readonly field: Field
  /** The operator's query, with the brand in it. */
  readonly query: string
}

export interface AskedToLook {
  readonly look: number
  readonly users: readonly string[]
  readonly parts: readonly Part[]
  readonly asOf: string | undefined
  readonly maxLagMs: number | undefined
}

export interface AskedToList {
  readonly list: Part
  readonly asOf: string | undefined
}

export type Told =
  | { readonly look: number; readonly found: readonly { readonly field: Field; readonly user: string }[] }
  | { readonly look: number; readonly error: string }
  /** The list stands as of then; its ids come over standard output, which is a file. */
  | { readonly timestamp: string }
  /** So much of it has been written by now, whole ids. */
  | { readonly bytes: number; readonly ids: number }
  | { readonly error: string }
  /** All of them have been written. */
  | { readonly whole: true }
