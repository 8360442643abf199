// Reads the body of an answer as a JSON object. The body is untrusted input.

import { endOfValue, mostLevels, openObject, skipSpace } from './scan.ts'
import { type Source, sourceOf } from './source.ts'
import { shortened } from './storable.ts'

export interface JsonBody {
  readonly source: Source
  /** The start of the object in the source. */
  readonly at: number
  readonly fields: Readonly<Record<string, unknown>>
}

/** @returns the object; or, as text, the reason why the body is not one */
export function readJsonBody(body: Uint8Array | string): JsonBody | string {
  const source = sourceOf(body)
  if (!source.intact) return 'it is not UTF-8'
  const at = skipSpace(source.units, 0)
  if (at === source.text.length) return 'it is empty'
  if (source.units[at] !== openObject) return 'it is not a JSON object'
  if (endOfValue(source.units, at) < 0) return `it is nested deeper than ${mostLevels} levels`
  try {
    return { source, at, fields: JSON.parse(source.text) as Record<string, unknown> }
  } catch (error) {
    return `it is not JSON: ${syntaxProblem(error)}`
  }
}

/** The message of a syntax error without the excerpt of the text, which may contain a token. */
export function syntaxProblem(error: unknown): string {
  return shortened((error as Error).message.replace(/, (?:\.\.\.)?".*$/s, ''), 200)
}
