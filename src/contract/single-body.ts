// Reads the body of a single answer or of an error answer (§2.2, §2.3).

import type { Channel } from './endpoints.ts'
import { identifierOf } from './endpoints.ts'
import { digitsOf, parseExactly } from './exact-json.ts'
import { isIntegerText, isPlain, mostText } from './ids.ts'
import { readJsonBody } from './json-body.ts'
import type { Reason } from './reasons.ts'
import { shown } from './shown.ts'
import { shortened } from './storable.ts'

export interface SingleBody {
  readonly ref: string | undefined
  readonly error: string | undefined
  readonly service: string | undefined
  readonly reason: StatedReason | undefined
}

/** The reasons that an operator may state for a failed message (row 61). Without one, the platform shows `rejected`. */
const statedReasons = [
  'invalid',
  'suppressed',
  'no_device',
  'too_large',
  'expired',
] as const satisfies readonly Reason[]
export type StatedReason = (typeof statedReasons)[number]

export const isStatedReason = (reason: unknown): reason is StatedReason =>
  (statedReasons as readonly unknown[]).includes(reason)

/** Never throws: a missing or unreadable field is undefined. */
export function readSingleBody(body: Uint8Array | string, channel: Channel): SingleBody {
  const read = readJsonBody(body)
  if (typeof read === 'string') return { ref: undefined, error: undefined, service: undefined, reason: undefined }
  const { source, fields } = read
  const name = identifierOf[channel]
  const value = typeof fields[name] === 'number' ? (parseExactly(source.text) as typeof fields)[name] : fields[name]
  const { error, service, reason } = fields
  return { ref: readRef(value), error: readError(error), service: readService(service), reason: readReason(reason) }
}

/**
 * The interface does not define the type of an identifier (§2.2). Accepted are texts that can be stored and looked up, and
 * integers of row 1, with every digit: a wrong identifier would be worse than none. The same rule applies in answers, in the
 * status webhook and in polled pages (row 47).
 *
 * @param value of parseExactly()
 */
export function readRef(value: unknown): string | undefined {
  const digits = digitsOf(value)
  if (digits !== undefined) return isIntegerText(digits) ? digits : undefined
  return typeof value === 'string' && value !== '' && isPlain(value, mostText) ? value : undefined
}

/** The error text; a value that is not a string is returned as JSON. */
export function readError(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : shortened(value)
  return value === undefined || value === null ? undefined : shown(value, 500)
}

/** The push service that a fatal message waits for (row 59). */
export function readService(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? shortened(value, 100) : undefined
}

export const readReason = (value: unknown): StatedReason | undefined => (isStatedReason(value) ? value : undefined)
