// JSON Pointers (RFC 6901) into a request element. They come from the configuration.

import { cutElements } from './elements.ts'
import { isRawJson } from './exact-json.ts'
import { memberTexts } from './members.ts'
import { openArray, skipSpace } from './scan.ts'
import { type Source, sourceOf } from './source.ts'

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

/**
 * The source text of the value at a JSON Pointer, byte for byte; undefined if it does not exist.
 *
 * @param members those of the element, by memberTexts()
 * @example textAt(memberTexts(sourceOf('{"a": {"b": 1.0}}')), '/a/b') // '1.0'
 */
export function textAt(members: ReadonlyMap<string, string>, pointer: string): string | undefined {
  const [first = '', ...names] = namesIn(pointer)
  let text = members.get(first)
  for (const name of names) text = text === undefined ? undefined : memberText(sourceOf(text), name)
  return text
}

function memberText(source: Source, name: string): string | undefined {
  const at = skipSpace(source.units, 0)
  if (source.units[at] === openArray) {
    const { starts, ends, error } = cutElements(source)
    const place = /^(0|[1-9]\d*)$/.test(name) ? Number(name) : -1
    return error === undefined && place >= 0 && place < starts.length
      ? source.text.slice(starts[place], ends[place])
      : undefined
  }
  return memberTexts(source, at).get(name)
}

/** The last name of a pointer: 'b' of '/a/b'. */
export const lastNameIn = (pointer: string): string => namesIn(pointer).at(-1) ?? ''

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
