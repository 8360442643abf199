// Row 24, polling: GET {base_url}/messages/status?after=CURSOR&limit=N returns the statuses in the order in which they were
// recorded. `next` is the cursor of the following page; at the end it is where the next new status will be.

import { Type } from 'typebox'
import { plainText } from './documents/described.ts'
import { readJsonBody } from './json-body.ts'
import { memberTexts } from './members.ts'
import { MessageStatusRecord, mostStatusRecords, type ReadStatus, readStatusArray } from './status-record.ts'

/** The longest cursor. A cursor is opaque to the platform. */
export const mostCursor = 128

const cursor = (description: string) => plainText(1, mostCursor, description)

/** A page of statuses. An empty `records` means that there is nothing new yet. */
export const StatusPage = Type.Object(
  {
    records: Type.Array(MessageStatusRecord, { maxItems: mostStatusRecords }),
    next: cursor('Give it as `after` to get the following page'),
  },
  { $id: 'StatusPage', additionalProperties: true },
)

/** Status 410: the operator's database is not the one that gave the cursor, for example after a backup was restored. */
export const StatusCursorGone = Type.Object(
  { error: Type.String(), restart: cursor('Go on with this cursor. Records may repeat; none is skipped') },
  { $id: 'StatusCursorGone', additionalProperties: true },
)

export interface ReadStatusPage {
  readonly records: readonly ReadStatus[]
  readonly next: string
}

/** @param records the JSON texts of the records */
export function statusPageJson(records: readonly string[], next: string): string {
  return `{"records":[${records.join(',')}],"next":${JSON.stringify(next)}}`
}

/**
 * Reads a page. An invalid record does not affect the others.
 *
 * @returns the page; or, as text, the reason why it cannot be read
 */
export function readStatusPage(body: Uint8Array | string): ReadStatusPage | string {
  const json = readJsonBody(body)
  if (typeof json === 'string') return `the page cannot be read: ${json}`
  const { next, records } = json.fields
  if (!isCursor(next)) return `next is not a cursor: it must be a string of 1 to ${mostCursor} characters`
  if (!Array.isArray(records)) return 'records is missing: the page must have an array of this name'
  if (records.length === 0) return { records: [], next }
  const read = readStatusArray(memberTexts(json.source, json.at).get('records') as string)
  return typeof read === 'string' ? `records cannot be read: ${read}` : { records: read, next }
}

/** @returns the cursor of an answer with status 410; undefined if it has none */
export function readRestart(body: Uint8Array | string): string | undefined {
  const json = readJsonBody(body)
  return typeof json !== 'string' && isCursor(json.fields.restart) ? json.fields.restart : undefined
}

function isCursor(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= mostCursor
}
