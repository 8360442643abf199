// Overrides of a message, merged into what we would send.

type Json = Readonly<Record<string, unknown>>

const isRaw = (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON

/** Whether it is a JSON object; a number kept digit by digit (JSON.rawJSON) is none. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value)
}

/**
 * Objects are merged member by member, anything else is replaced, null takes away.
 *
 * @example merged({ a: { b: 1, c: 2 } }, { a: { b: 3, c: null } }) // { a: { b: 3 } }
 */
export function merged(base: Json, over: Json | undefined): Json {
  // Nearly always there are none, and a copy is slow to make and slow to write as JSON.
  if (over === undefined) return base
  const members = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(over)) {
    const below = members.get(name)
    if (value === null) members.delete(name)
    else members.set(name, isObject(value) ? merged(isObject(below) ? below : {}, value) : value)
  }
  return Object.fromEntries(members)
}
