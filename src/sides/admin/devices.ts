// /admin/devices, for the operator's services and for people. Both sides list devices. Only the operator changes them, because
// it owns them: every change is published to the platform (§4.2).

import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http.ts'
import { present } from '../../base/runtime/present.ts'
import { OwnDeviceRecord } from '../../contract/device-events.ts'
import {
  brandInJson,
  brandNumber,
  closedObject,
  json,
  limitOf,
  nullable,
  refusedLines,
  text,
  textOf,
  whole,
} from '../../contract/documents/described.ts'
import { syntaxProblem } from '../../contract/json-body.ts'
import { createMismatch } from '../../contract/mismatch.ts'
import { readTimestamp, rfc3339 } from '../../contract/timestamp.ts'
import type { AuditDetails } from '../../subjects/audit/table.ts'
import { type DeviceEvent, eventsOf, type Reading } from '../../subjects/devices/device-event.ts'
import type { Registry } from '../../subjects/devices/registry.ts'
import type { RemovalCursor, RemovalFilter } from '../../subjects/devices/removals/removals.ts'
import { ShownDevice, ShownRemoval, shownDevice, shownRemoval } from '../../subjects/devices/shown.ts'
import { countChanges, noChanges } from '../../subjects/devices/store-record.ts'
import type { AdminCaller } from './request-audit.ts'
import { actReason, RemovedDevices } from './requests.ts'
import { adminRoute, filterOrAll } from './route.ts'
import { demandBrand } from './visibility.ts'

export interface DeviceAdmin extends Pick<Reading, 'judge' | 'reaches'> {
  readonly registry: Registry
}

const maxRecords = 1_000
const maxPageSize = 1_000

const brandSays = 'The number of the brand. Optional for a key that is bound to one brand.'
const brandInQuery = Type.Optional(brandNumber(brandSays))
const brandInBody = Type.Optional(nullable(brandInJson(brandSays)))

/** The record of row 18 plus `brand`. */
const BrandedRecord = Type.Object(
  { brand: brandInBody, ...OwnDeviceRecord.properties },
  { $id: 'OurDeviceRecord', additionalProperties: true },
)
const mismatch = createMismatch(BrandedRecord, 'the record')
const deviceRecords = {
  ...json(Type.Union([BrandedRecord, Type.Array(BrandedRecord, { maxItems: maxRecords })])),
  ...textOf('application/x-ndjson', 'One record per line'),
}

const DevicesAnswer = Type.Object({
  accepted: whole('Tokens that were read and stored'),
  linked: whole(),
  moved: whole(),
  unlinked: whole(),
  unchanged: whole('Tokens for which this or a later event was stored before'),
  refused_count: whole(),
  refused: refusedLines,
})
type DevicesAnswer = Static<typeof DevicesAnswer>

/** @param registryOf the registry of a brand */
export function deviceRoutes(registryOf: (brand: string) => Registry) {
  return {
    list: adminRoute({
      says: 'Lists the devices of one user.',
      query: Type.Object({ brand: brandInQuery, user_id: Type.String({ minLength: 1, description: 'The user.' }) }),
      gives: Type.Object({ devices: Type.Array(ShownDevice) }),
      async handler(request, key) {
        const { brand, user_id: userId } = request.query
        const ofKey = brandOf(brand, key)
        key.audit.note({ brand: ofKey })
        return { devices: (await registryOf(ofKey).list(ofKey, userId)).map(shownDevice) }
      },
    }),
    listRemoved: adminRoute({
      says: 'Lists removed devices in pages, the oldest removal first.',
      query: closedObject({
        brand: brandInQuery,
        ...RemovedDevices.properties,
        limit: Type.Optional(limitOf(maxPageSize)),
        after: Type.Optional(text('The `next` of the previous page.')),
      }),
      gives: Type.Object({ removed: Type.Array(ShownRemoval), next: nullable(Type.String()) }),
      async handler(request, key) {
        const { brand, limit: most = 100, after, ...given } = request.query
        const filtered = filterOf(brandOf(brand, key), given)
        const rows = await registryOf(filtered.brand).listRemoved(
          filtered,
          most,
          after === undefined ? undefined : cursorOf(after),
        )
        const last = rows.at(-1)
        const next = rows.length === most && last ? `${last.removed_at}~${last.device}~${last.at}` : null
        return { removed: rows.map(shownRemoval), next }
      },
    }),
  }
}

export function deviceChangeRoutes({ registry, ...checks }: DeviceAdmin) {
  const storing = (what: 'link' | 'unlink') =>
    adminRoute({
      says: `${what === 'link' ? 'Links' : 'Unlinks'} devices. The body is one record, an array of records, or one record per line. Invalid records are reported; the others are stored.`,
      bodies: deviceRecords,
      largeBody: true,
      gives: DevicesAnswer,
      handler: (request, key) => storeRecords(request, key, { registry, what, ...checks }),
    })
  return {
    link: storing('link'),
    unlink: storing('unlink'),
    restore: adminRoute({
      says: 'Restores the removed devices that match the filter. Devices that were linked or unlinked since are left unchanged.',
      body: closedObject({
        brand: brandInBody,
        ...RemovedDevices.properties,
        ...actReason,
        all: Type.Optional(
          Type.Literal(true, { description: 'All removed devices of the brand. Required without another filter.' }),
        ),
      }),
      gives: Type.Object({ restored: whole() }),
      async handler({ body: { brand, reason: _, ...body } }, key) {
        const given = filterOrAll(body, Object.keys(RemovedDevices.properties))
        return {
          restored: await registry.restore(filterOf(brandOf(brand, key), given), (count) => key.audit.ops({ count })),
        }
      },
    }),
  }
}

/**
 * Stores the records of the body: one record of row 18 with its `brand`, an array of records, or NDJSON. An invalid record is
 * listed in the answer, and the others are stored. If the body is a single invalid record, the answer is 400.
 */
async function storeRecords(
  request: FastifyRequest,
  key: AdminCaller,
  { registry, ...reading }: DeviceAdmin & Pick<Reading, 'what'>,
): Promise<DevicesAnswer> {
  const { single, records } = recordsIn(bodyOf(request), request.headers['content-type'] ?? '')
  if (records.length > maxRecords)
    throw new HttpError(413, `${records.length} records in one request: send at most ${maxRecords} at a time`)
  const answer: DevicesAnswer = { ...noChanges(), refused_count: 0, refused: [] }
  const events: DeviceEvent[] = []
  for (const [i, record] of records.entries()) {
    const read = readRecord(record, key, reading)
    if (!('invalid' in read)) events.push(...read)
    else if (single) throw new HttpError(read.status ?? 400, read.invalid)
    else answer.refused.push({ line: i + 1, error: read.invalid })
  }
  answer.refused_count = answer.refused.length
  const audited = key.audit.ops(...detailsOf(events))
  countChanges(answer, await registry.storeEvents(events, audited))
  return answer
}

/** An entry for each brand, so that its auditor sees the changes of its devices. */
function detailsOf(events: readonly DeviceEvent[]): readonly AuditDetails[] {
  if (events.length === 0) return [{ count: 0 }]
  return [...Map.groupBy(events, ({ brand }) => brand)].map(([brand, own]) => {
    const [user, another] = new Set(own.map(({ userId }) => userId))
    return { brand, count: own.length, ...(another === undefined && { user }) }
  })
}

interface Invalid {
  readonly invalid: string
  readonly status?: number
}

function readRecord(
  record: unknown,
  key: AccessKey,
  reading: Omit<Reading, 'brand'>,
): readonly DeviceEvent[] | Invalid {
  if (record instanceof HttpError) return { invalid: record.message }
  const invalid = mismatch(record)
  if (invalid !== undefined) return { invalid }
  const valid = record as Static<typeof BrandedRecord>
  try {
    return eventsOf(valid, { ...reading, brand: brandOf(valid.brand, key) })
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { invalid: error.message, status: error.status }
  }
}

function bodyOf({ body }: FastifyRequest): Buffer {
  if (Buffer.isBuffer(body) && body.length > 0) return body
  throw new HttpError(400, 'the body is empty: send {"user_id", "tokens": [{"token", "channel", "provider"}], …}')
}

function recordsIn(body: Buffer, type: string): { single: boolean; records: readonly unknown[] } {
  if (/ndjson|jsonl/i.test(type)) {
    const lines = body.toString('utf8').split('\n')
    if (lines.at(-1)?.trim() === '') lines.pop()
    return { single: false, records: lines.map(parseRecord) }
  }
  const value = parseRecord(body.toString('utf8'))
  if (value instanceof HttpError) throw value
  return Array.isArray(value) ? { single: false, records: value } : { single: true, records: [value] }
}

/** @returns the error instead of a record that is not JSON */
function parseRecord(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return new HttpError(400, `it is not JSON: ${syntaxProblem(error)}`)
  }
}

/** The given brand or, without one, the brand to which the key is bound. */
function brandOf(given: string | number | null | undefined, key: AccessKey): string {
  const brand = given ?? (key.brands?.length === 1 ? key.brands[0] : undefined)
  if (brand === undefined)
    throw new HttpError(400, 'brand is missing: give its number, such as "1", or use a key of one brand')
  demandBrand(key, String(brand))
  return String(brand)
}

function filterOf(brand: string, given: Static<typeof RemovedDevices>): RemovalFilter {
  const { user_id: userId, why, since, until, restorable } = given
  const times = { since: millisecondsOf(since), until: millisecondsOf(until) }
  return { brand, ...present({ userId, why, ...times, restorable: restorable || undefined }) }
}

const millisecondsOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(rfc3339((readTimestamp(time) as string).slice(0, 23)))

function cursorOf(text: string): RemovalCursor {
  const [, removedAt, device, at] = /^(\d{1,15})~([^~]*)~(.*)$/.exec(text) ?? []
  if (removedAt === undefined || device === undefined || at === undefined)
    throw new HttpError(400, 'after is not the `next` of a page: send it unchanged')
  return { removed_at: Number(removedAt), device, at }
}
