// JSON Pointers (RFC 6901) into a request element. They come from the configuration.

import { isRawJson } from './exact-json.ts'

/**
 * The value at a JSON Pointer; undefined if it does not exist.
 *
 * @example valueAt({ msg: { 'a/b': 1 } }, '/msg/a~1b') // 1
 */
export function valueAt(element: unknown, pointer: string): unknown {
  let value = element
  for (const name of namesIn(pointer)) {
    if (typeof value !== 'object' || value === null || isRawJson(value)) return undefined
    if (!Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** A cache of parsed pointers; they come from the configuration, so it stays small. */
const knownPointers = new Map<string, readonly string[]>()

function namesIn(pointer: string): readonly string[] {
  const known = knownPointers.get(pointer)
  if (known) return known
  const parts = pointer.split('/').slice(1)
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  knownPointers.set(pointer, names)
  return names
}
