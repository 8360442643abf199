// Row 24: the record of one delivery status, the same by webhook and by polling.

import { type Static, Type } from 'typebox'
import { nullable, plainText } from './documents/described.ts'
import { cutElements } from './elements.ts'
import { type Channel, identifierOf } from './endpoints.ts'
import { isIntegerText, mostText } from './ids.ts'
import { readJsonBody } from './json-body.ts'
import { memberTexts } from './members.ts'
import { createMismatch } from './mismatch.ts'
import { openArray, skipSpace } from './scan.ts'
import { sourceOf } from './source.ts'
import { type MessageStatus, messageStatuses } from './status.ts'
import { shortened, unstorable } from './storable.ts'
import { readTimestamp, rfc3339, type Timestamp } from './timestamp.ts'

/** The most records of one webhook call, and of one page. */
export const mostStatusRecords = 1_000
/** The largest body of a webhook call. A call with more records than one is at most a quarter of it. */
export const mostStatusBytes = 4 * 1024 * 1024

const identifier = (name: string) =>
  Type.Optional(
    nullable(plainText(1, mostText, `The ${name} that the operator answered. An integer is read with all its digits`)),
  )

/** Row 24: one status of one message. It has `push_id` or `site_notification_id`, not both. */
export const MessageStatusRecord = Type.Object(
  {
    push_id: identifier('push_id'),
    site_notification_id: identifier('site_notification_id'),
    status: Type.Enum([...messageStatuses]),
    timestamp: Type.Refine(
      Type.String({
        title: 'a time in RFC 3339 with a time zone',
        examples: ['2026-01-31T10:00:00.123Z'],
        description: 'The time of the status, RFC 3339',
      }),
      (given) => readTimestamp(given) !== undefined,
    ),
    meta: Type.Optional(
      nullable(
        Type.Object(
          {},
          { additionalProperties: true, description: 'activity, headers and meta, as the platform sent them (row 25)' },
        ),
      ),
    ),
  },
  { $id: 'MessageStatusRecord', additionalProperties: true },
)
export type MessageStatusRecord = Static<typeof MessageStatusRecord>

/** The body of the webhook: one record, or several. */
export const MessageStatusBody = Type.Union(
  [MessageStatusRecord, Type.Array(MessageStatusRecord, { minItems: 1, maxItems: mostStatusRecords })],
  { $id: 'MessageStatusBody' },
)

/** A status as both sides handle it. */
export interface StatusRecord {
  readonly channel: Channel
  /** push_id or site_notification_id. */
  readonly ref: string
  readonly status: MessageStatus
  readonly at: Timestamp
  /** JSON text; null: not sent. */
  readonly meta: string | null
}

export interface InvalidStatus {
  /** The fault of the record, in one sentence. */
  readonly invalid: string
  /** The start of its source text. */
  readonly text: string
}

export type ReadStatus = StatusRecord | InvalidStatus

/** Writes a record. `meta` is copied as text. */
export function statusRecordJson({ channel, ref, status, at, meta }: StatusRecord): string {
  const json = JSON.stringify({ [identifierOf[channel]]: ref, status, timestamp: rfc3339(at) })
  return meta === null ? json : `${json.slice(0, -1)},"meta":${meta}}`
}

/**
 * Reads the body of a webhook call. An invalid record does not affect the others.
 *
 * @returns the records in order; or, as text, the reason why the whole body cannot be read
 * @example readStatusBody('{"push_id":"0190","status":"clicked","timestamp":"2026-01-31T10:00:00Z","meta":{"activity":{"id":7}}}')
 */
export function readStatusBody(body: Uint8Array | string): readonly ReadStatus[] | string {
  const source = sourceOf(body)
  if (!source.intact) return 'the body cannot be read: it is not UTF-8'
  if (source.units[skipSpace(source.units, 0)] === openArray) return readStatusArray(source.text)
  const record = readStatus(source.text)
  return 'invalid' in record ? record.invalid : [record]
}

/** Reads a JSON array of records. */
export function readStatusArray(text: string): readonly ReadStatus[] | string {
  const { starts, ends, error } = cutElements(sourceOf(text), mostStatusRecords)
  if (error !== undefined) return error
  if (starts.length === 0) return 'the array is empty: send at least one record'
  if (starts.length > mostStatusRecords)
    return `the array has more than ${mostStatusRecords} records: send fewer in one call`
  return starts.map((start, n) => readStatus(text.slice(start, ends[n])))
}

const mismatch = createMismatch(MessageStatusRecord, 'the record')

/** Reads one record from its source text. */
export function readStatus(text: string): ReadStatus {
  const invalid = (why: string): InvalidStatus => ({ invalid: why, text: shortened(text, 500) })
  const json = readJsonBody(text)
  if (typeof json === 'string') return invalid(`the record cannot be read: ${json}`)
  const texts = memberTexts(json.source, json.at)
  const fields = withTexts(json.fields, texts)
  const wrong = mismatch(fields)
  if (wrong !== undefined) return invalid(wrong)
  const found = unstorable(text)
  if (found !== undefined) return invalid(`the record contains ${found}, which cannot be stored: remove it`)
  const { push_id: push, site_notification_id: site, status, timestamp } = fields as MessageStatusRecord
  if ((push ?? null) === null && (site ?? null) === null)
    return invalid('push_id and site_notification_id are missing: give one of them')
  if ((push ?? null) !== null && (site ?? null) !== null)
    return invalid('push_id and site_notification_id are both given: give one of them')
  const channel = (push ?? null) === null ? 'site' : 'push'
  const meta = texts.get('meta') ?? null
  return {
    channel,
    ref: (push ?? site) as string,
    status,
    at: readTimestamp(timestamp) as Timestamp,
    meta: meta === 'null' ? null : meta,
  }
}

/** The fields, in which an identifier that is an integer is replaced by its digits (row 47). */
function withTexts(
  fields: Readonly<Record<string, unknown>>,
  texts: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> {
  const numbers = [identifierOf.push, identifierOf.site].filter((name) => isIntegerText(texts.get(name) ?? ''))
  return { ...fields, ...Object.fromEntries(numbers.map((name) => [name, texts.get(name)])) }
}
