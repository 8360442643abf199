import type { TSchema } from 'typebox'

export type Json = { readonly [name: string]: unknown }

/** Schemas with a name of their own ($id), once each under components/schemas; everywhere else they are referred to. */
export interface Components {
  readonly schemas: Readonly<Record<string, Json>>
  /** The schema as it stands in the document: whatever has an $id became a reference, and is among `schemas` from then on. */
  refer(schema: TSchema): Json
}

/**
 * @example
 * const { refer, schemas } = createComponents()
 * refer(BatchRequest) // { $ref: '#/components/schemas/BatchRequest' }, and schemas has it and ActivityRequest
 */
export function createComponents(): Components {
  const schemas: Record<string, Json> = {}

  function copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    const { $id, ...rest } = value as Json
    if (typeof $id !== 'string') return copyOf(rest)
    // An $id would move the base of the references within.
    schemas[$id] ??= copyOf(rest)
    return { $ref: `#/components/schemas/${$id}` }
  }
  const copyOf = (value: Json): Json =>
    Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part)]))

  return { schemas, refer: (schema) => copy(schema) as Json }
}
