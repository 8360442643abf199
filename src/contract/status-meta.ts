// Row 25: the data that returns to the platform with each status, so that it counts a conversion for the right message.

import { lastNameIn, textAt } from './pointer.ts'

/** The parts of `meta`, each as JSON text; undefined: not sent. */
export interface MetaParts {
  /** The object `activity` of the request. */
  readonly activity: string
  /** An object with the tracking headers of a single request. */
  readonly headers: string | undefined
  /** The meta of the request: see requestMeta(). */
  readonly meta: string | undefined
}

/**
 * Joins the parts as text, so that each comes back byte for byte: long integers keep their digits, and objects their order and
 * their white space.
 *
 * @example statusMeta({ activity: '{"id":7}', headers: undefined, meta: '{"a": 1}' }) // '{"activity":{"id":7},"meta":{"a": 1}}'
 */
export function statusMeta({ activity, headers, meta }: MetaParts): string {
  const ofHeaders = headers === undefined ? '' : `,"headers":${headers}`
  const ofBody = meta === undefined ? '' : `,"meta":${meta}`
  return `{"activity":${activity}${ofHeaders}${ofBody}}`
}

/**
 * The meta that a request element has at these JSON Pointers, byte for byte; undefined: none. The value at one pointer; or of several,
 * an object whose members have the last names of the pointers, of which the first one with a value counts.
 *
 * @example requestMeta(memberTexts(sourceOf('{"data":{"a": 1.0,"b":2}}')), ['/data/a', '/data/c']) // '{"a":1.0}'
 */
export function requestMeta(members: ReadonlyMap<string, string>, pointers: readonly string[]): string | undefined {
  const [first = '', another] = pointers
  if (another === undefined) return textAt(members, first)
  const found = new Map<string, string>()
  for (const pointer of pointers) {
    const name = lastNameIn(pointer)
    const text = found.has(name) ? undefined : textAt(members, pointer)
    if (text !== undefined) found.set(name, text)
  }
  const written = [...found].map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return written.length === 0 ? undefined : `{${written.join(',')}}`
}
