// The time after which a message is worthless: a value within its request element. The interface does not define it (§2.1, row 56).

import { findMembers } from './members.ts'
import { sourceOf } from './source.ts'
import { readTimestamp } from './timestamp.ts'

/** Numbers below this one are seconds: as milliseconds they would be before March 1973, as seconds they reach the year 5138. */
const firstMilliseconds = 100_000_000_000
const form = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})$/

/**
 * Reads an expiry: a date and time with its zone (RFC 3339), or the seconds or milliseconds since 1970.
 *
 * @returns epoch milliseconds; undefined if the value is neither
 * @example readExpiry('2026-11-23T18:00:00Z') // 1795456800000
 * @example readExpiry(1795456800) // 1795456800000
 */
export function readExpiry(value: unknown): number | undefined {
  if (typeof value === 'string')
    return form.test(value) && readTimestamp(value) !== undefined
      ? finite(Date.parse(value.toUpperCase().replace(' ', 'T')))
      : undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return undefined
  return value < firstMilliseconds ? value * 1_000 : value
}

const finite = (ms: number): number | undefined => (Number.isFinite(ms) ? ms : undefined)

/**
 * Adds an expiry to the text of a request element, if its pointer is one name: an operator then does not show the message later
 * either. A present value, which is null, is replaced. The other characters do not change.
 *
 * @example addExpiry('{"activity":{…}}', '/expires_at', 1795456800000) // '{"activity":{…},"expires_at":"2026-11-23T18:00:00.000Z"}'
 */
export function addExpiry(text: string, pointer: string, expiresAt: number): string {
  const [, escaped, ...rest] = pointer.split('/')
  if (escaped === undefined || rest.length > 0) return text
  const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
  const value = `"${new Date(expiresAt).toISOString()}"`
  let present: readonly [start: number, end: number] | undefined
  findMembers(sourceOf(text), 0, (each, ...range) => {
    if (each === name) present = range
  })
  if (present) return text.slice(0, present[0]) + value + text.slice(present[1])
  return `${text.slice(0, text.lastIndexOf('}'))},${JSON.stringify(name)}:${value}}`
}
