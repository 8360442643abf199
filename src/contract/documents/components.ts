import type { TSchema } from 'typebox'

export type Json = { readonly [name: string]: unknown }

/** Named schemas (with $id). Each is listed once under components/schemas and referenced everywhere else. */
export interface Components {
  readonly schemas: Readonly<Record<string, Json>>
  /** The schema for use in the document. Each part with an $id is replaced by a reference and added to `schemas`. */
  refer(schema: TSchema): Json
}

/**
 * @example
 * const { refer, schemas } = createComponents()
 * refer(BatchRequest) // { $ref: '#/components/schemas/BatchRequest' }; schemas then has BatchRequest and ActivityRequest
 */
export function createComponents(): Components {
  const schemas: Record<string, Json> = {}

  function copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    const { $id, ...rest } = value as Json
    if (typeof $id !== 'string') return copyOf(rest)
    // $id is left out, because it would change the base URI of nested references.
    schemas[$id] ??= copyOf(rest)
    return { $ref: `#/components/schemas/${$id}` }
  }
  const copyOf = (value: Json): Json =>
    Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part)]))

  return { schemas, refer: (schema) => copy(schema) as Json }
}
