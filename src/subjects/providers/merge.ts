// Merges the overrides of a message into its payload.

type Json = Readonly<Record<string, unknown>>

const isRaw = (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON

/** Whether a value is a JSON object. A number with all its digits kept (JSON.rawJSON) is not. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value)
}

/**
 * Merges objects member by member. Other values are replaced; null removes a member.
 *
 * @example merged({ a: { b: 1, c: 2 } }, { a: { b: 3, c: null } }) // { a: { b: 3 } }
 */
export function merged(base: Json, over: Json | undefined): Json {
  // Most messages have no overrides, and a copy takes time to make and to serialize.
  if (over === undefined) return base
  const members = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(over)) {
    const below = members.get(name)
    if (value === null) members.delete(name)
    else members.set(name, isObject(value) ? merged(isObject(below) ? below : {}, value) : value)
  }
  return Object.fromEntries(members)
}

/** Overrides without their headers, which are no part of the payload. */
export const withoutHeaders = ({ headers: _, ...payload }: Json): Json => payload
