// /admin/devices, for the operator's services and for people. Both sides list devices. Only the operator changes them, because
// it owns them: every change is published to the platform (§4.2).

import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { checkDeviceEvent, DeviceTokenRecord, mostTokens } from '../contract/device-events.ts'
import { brandNumber, json, limitOf, nullable, refusedLines, textOf, whole } from '../contract/documents/described.ts'
import type { AccessKey } from '../http/access.ts'
import { type AdminRoute, filterOrAll, jsonObject, wholeNumber } from '../http/admin-access.ts'
import { HttpError } from '../http/http.ts'
import { type DeviceEvent, eventsOf, type Judge } from './device-event.ts'
import { bodyOf, countChanges, noChanges } from './intake.ts'
import type { Registry } from './registry.ts'
import type { RemovalCursor, RemovalFilter } from './removals/removals.ts'
import { ShownDevice, ShownRemoval, shownDevice, shownRemoval } from './shown.ts'
import { readTimestamp, rfc3339 } from './timestamp.ts'

export interface DeviceAdmin {
  readonly registry: Registry
  readonly judge?: Judge | undefined
}

const maxRecords = 1_000
const maxPageSize = 1_000

const filterDescriptions = {
  brand: 'The number of the brand. Optional for a key that is bound to one brand.',
  user_id: 'The id of the user.',
  why: 'The reason for the removal, exactly as it was recorded.',
  since: 'Removed at or after this time, such as 2026-01-31T10:00:00Z.',
  until: 'Removed at or before this time.',
  restorable: 'true: only devices that can be restored.',
} as const
const filterNames = Object.keys(filterDescriptions)
const restoreNames = filterNames.filter((name) => name !== 'brand')

const numberOfBrand = Type.Union([Type.String(), Type.Integer()], { description: filterDescriptions.brand })

const removalFilter = Type.Object(
  {
    brand: Type.Optional(numberOfBrand),
    user_id: Type.Optional(Type.String({ description: filterDescriptions.user_id })),
    why: Type.Optional(Type.String({ description: filterDescriptions.why })),
    since: Type.Optional(Type.String({ format: 'date-time', description: filterDescriptions.since })),
    until: Type.Optional(Type.String({ format: 'date-time', description: filterDescriptions.until })),
    restorable: Type.Optional(Type.Boolean({ description: filterDescriptions.restorable })),
    all: Type.Optional(
      Type.Literal(true, { description: 'All removed devices of the brand. Required without another filter.' }),
    ),
  } satisfies Record<keyof typeof filterDescriptions | 'all', unknown>,
  { additionalProperties: false },
)

/** The record of row 18 plus `brand`. Fields with a default are optional. */
export const OurDeviceRecord = Type.Object(
  {
    brand: Type.Optional(numberOfBrand),
    user_id: Type.String({ minLength: 1 }),
    tokens: Type.Array(
      Type.Object({ ...DeviceTokenRecord.properties, channel: Type.Optional(DeviceTokenRecord.properties.channel) }),
      { maxItems: mostTokens },
    ),
    timestamp: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now' })),
    origin: Type.Optional(Type.String()),
    skip_publishing: Type.Optional(Type.Boolean()),
  },
  { $id: 'OurDeviceRecord' },
)
const deviceRecords = {
  ...json(Type.Union([OurDeviceRecord, Type.Array(OurDeviceRecord, { maxItems: maxRecords })])),
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

export function deviceReads({ registry }: DeviceAdmin): readonly AdminRoute[] {
  return [
    {
      method: 'GET',
      url: '/admin/devices',
      scope: 'read',
      says: 'Lists the devices of one user.',
      query: {
        brand: brandNumber(filterDescriptions.brand),
        user_id: 'The user. Required.',
      },
      gives: json(Type.Object({ devices: Type.Array(ShownDevice) })),
      async handler(request, key) {
        const { brand, user_id: userId } = request.query as Query
        if (!userId) throw new HttpError(400, 'user_id is missing: add it to the query, as in ?brand=1&user_id=1001')
        return { devices: (await registry.list(brandOf(brand, key), userId)).map(shownDevice) }
      },
    },
    {
      method: 'GET',
      url: '/admin/devices/removed',
      scope: 'read',
      says: 'Lists removed devices in pages, the oldest removal first.',
      query: {
        ...filterDescriptions,
        brand: brandNumber(filterDescriptions.brand),
        since: Type.String({ format: 'date-time', description: filterDescriptions.since }),
        until: Type.String({ format: 'date-time', description: filterDescriptions.until }),
        limit: limitOf(maxPageSize),
        after: 'The `next` of the previous page.',
      },
      gives: json(Type.Object({ removed: Type.Array(ShownRemoval), next: nullable(Type.String()) })),
      async handler(request, key) {
        const { limit, after, ...query } = request.query as Query
        const most = Math.min(wholeNumber('limit', limit, 100, 1), maxPageSize)
        const rows = await registry.removed(
          filterOf(query, key),
          most,
          after === undefined ? undefined : cursorOf(after),
        )
        const last = rows.at(-1)
        const next = rows.length === most && last ? `${last.removed_at}~${last.device}~${last.at}` : null
        return { removed: rows.map(shownRemoval), next }
      },
    },
  ]
}

export function deviceWrites({ registry, judge }: DeviceAdmin): readonly AdminRoute[] {
  return [
    ...(['link', 'unlink'] as const).map(
      (what): AdminRoute => ({
        method: 'POST',
        url: `/admin/devices/${what}`,
        scope: 'devices',
        says: `${what === 'link' ? 'Links' : 'Unlinks'} devices. The body is one record, an array of records, or one record per line. Invalid records are reported; the others are stored.`,
        body: deviceRecords,
        largeBody: true,
        gives: json(DevicesAnswer),
        handler: (request, key) => storeRecords(request, key, { registry, what, judge }),
      }),
    ),
    {
      method: 'POST',
      url: '/admin/devices/restore',
      scope: 'manage',
      says: 'Restores the removed devices that match the filter. Devices that were linked or unlinked since are left unchanged.',
      body: json(removalFilter),
      gives: json(Type.Object({ restored: whole() })),
      async handler(request, key) {
        return { restored: await registry.restore(filterOf(filterOrAll(jsonObject(request), restoreNames), key)) }
      },
    },
  ]
}

type Query = Readonly<Record<string, string | undefined>>

/**
 * Stores the records of the body: one record of row 18 with its `brand`, an array of records, or NDJSON. An invalid record is
 * listed in the answer, and the others are stored. If the body is a single invalid record, the answer is 400.
 */
async function storeRecords(
  request: FastifyRequest,
  key: AccessKey,
  { registry, what, judge }: DeviceAdmin & { readonly what: 'link' | 'unlink' },
): Promise<DevicesAnswer> {
  const { single, records } = recordsIn(bodyOf(request), request.headers['content-type'] ?? '')
  if (records.length > maxRecords)
    throw new HttpError(413, `${records.length} records in one request: send at most ${maxRecords} at a time`)
  const answer: DevicesAnswer = { ...noChanges(), refused_count: 0, refused: [] }
  const events: DeviceEvent[] = []
  for (const [i, record] of records.entries()) {
    const read = readRecord(record, key, what, judge)
    if (!('invalid' in read)) events.push(...read)
    else if (single) throw new HttpError(read.status ?? 400, read.invalid)
    else answer.refused.push({ line: i + 1, error: read.invalid })
  }
  answer.refused_count = answer.refused.length
  countChanges(answer, await registry.take(events))
  return answer
}

interface Invalid {
  readonly invalid: string
  readonly status?: number
}

function readRecord(
  record: unknown,
  key: AccessKey,
  what: 'link' | 'unlink',
  judge: Judge | undefined,
): readonly DeviceEvent[] | Invalid {
  if (record instanceof UnreadableRecord) return { invalid: record.reason }
  const read = checkDeviceEvent(record, 'ours')
  if ('invalid' in read) return read
  let brand: string
  try {
    brand = brandOf((record as { brand?: unknown }).brand, key)
  } catch (error) {
    const { message, status } = error as HttpError
    return { invalid: message, status }
  }
  return eventsOf(read, { what, brand, judge })
}

class UnreadableRecord {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

function recordsIn(body: Buffer, type: string): { single: boolean; records: readonly unknown[] } {
  if (/ndjson|jsonl/i.test(type)) {
    const lines = body.toString('utf8').split('\n')
    if (lines.at(-1)?.trim() === '') lines.pop()
    return { single: false, records: lines.map(parseRecord) }
  }
  const value = parseRecord(body.toString('utf8'))
  if (value instanceof UnreadableRecord) throw new HttpError(400, value.reason)
  return Array.isArray(value) ? { single: false, records: value } : { single: true, records: [value] }
}

function parseRecord(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Only the kind of the error: the text around the error position may contain a token.
    return new UnreadableRecord(`it is not JSON: ${(error as Error).message.replace(/[,:]? ?["'`…].*$/s, '')}`)
  }
}

/** The given brand or, without one, the brand to which the key is bound. */
function brandOf(given: unknown, key: AccessKey): string {
  const brand = given ?? (key.brands?.length === 1 ? key.brands[0] : undefined)
  const text = typeof brand === 'number' && Number.isSafeInteger(brand) ? String(brand) : brand
  if (typeof text !== 'string' || !/^(0|[1-9]\d{0,18})$/.test(text))
    throw new HttpError(400, 'brand is missing or invalid: give its number, such as "1", or use a key of one brand')
  if (!(key.brands?.includes(text) ?? true))
    throw new HttpError(403, `the key ${key.name} may not act for brand ${text}`)
  return text
}

/** Rejects a filter with an unknown member, which would otherwise match more devices than intended. */
function filterOf(given: Readonly<Record<string, unknown>>, key: AccessKey): RemovalFilter {
  for (const [name, value] of Object.entries(given)) {
    if (!filterNames.includes(name)) throw new HttpError(400, `${name} is not a filter: use ${filterNames.join(', ')}`)
    if (name !== 'brand' && name !== 'restorable' && typeof value !== 'string')
      throw new HttpError(400, `${name} must be a string`)
  }
  const { brand, user_id: userId, why, since, until, restorable } = given as Readonly<Record<string, string>>
  return {
    brand: brandOf(brand, key),
    ...(userId !== undefined && { userId }),
    ...(why !== undefined && { why }),
    ...(since !== undefined && { since: timeOf('since', since) }),
    ...(until !== undefined && { until: timeOf('until', until) }),
    ...(String(restorable) === 'true' && { restorable: true }),
  }
}

function timeOf(name: string, text: string): number {
  const at = readTimestamp(text)
  if (at === undefined) throw new HttpError(400, `${name} must be a time such as 2026-01-31T10:00:00Z`)
  return Date.parse(rfc3339(at.slice(0, 23)))
}

function cursorOf(text: string): RemovalCursor {
  const [removedAt = '', device = '', at = ''] = text.split('~')
  return { removed_at: wholeNumber('the first part of after', removedAt, 0), device, at }
}
