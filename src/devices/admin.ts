// /admin/devices: for services of one's own and for people. Looking is the same on both sides; changing is the operator's,
// who owns the devices: the platform is told (§4.2).

import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { checkDeviceEvent, DeviceTokenRecord, mostTokens } from '../contract/device-events.ts'
import { brandNumber, json, limitOf, nullable, refusedLines, textOf, whole } from '../contract/documents/described.ts'
import type { AccessKey } from '../runtime/access.ts'
import { type AdminRoute, filterOrAll, jsonObject, wholeNumber } from '../runtime/admin-access.ts'
import { HttpError } from '../runtime/http.ts'
import { type DeviceEvent, eventsOf, type Judge } from './device-event.ts'
import { bodyOf, countChanges, nothingTaken } from './intake.ts'
import type { Registry } from './registry.ts'
import type { RemovalCursor, RemovalFilter } from './removals.ts'
import { ShownDevice, ShownRemoval, shownDevice, shownRemoval } from './shown.ts'
import { readTimestamp, rfc3339 } from './timestamp.ts'

export interface DeviceAdmin {
  readonly registry: Registry
  readonly judge?: Judge | undefined
}

const mostRecords = 1_000
const mostListed = 1_000

const filterSays = {
  brand: 'The number of the brand. May be left out by a key of one brand.',
  user_id: 'Of this user.',
  why: 'Removed for this reason.',
  since: 'Removed at this time or later: 2026-01-31T10:00:00Z.',
  until: 'Removed before this time.',
  restorable: 'true: only those that can be linked again.',
} as const
const filterNames = Object.keys(filterSays)
const restoreNames = filterNames.filter((name) => name !== 'brand')

const numberOfBrand = Type.Union([Type.String(), Type.Integer()], { description: filterSays.brand })

const removalFilter = Type.Object(
  {
    brand: Type.Optional(numberOfBrand),
    user_id: Type.Optional(Type.String({ description: filterSays.user_id })),
    why: Type.Optional(Type.String({ description: filterSays.why })),
    since: Type.Optional(Type.String({ format: 'date-time', description: filterSays.since })),
    until: Type.Optional(Type.String({ format: 'date-time', description: filterSays.until })),
    restorable: Type.Optional(Type.Boolean({ description: filterSays.restorable })),
    all: Type.Optional(
      Type.Literal(true, { description: 'All of the brand. Without it a member beside brand is needed.' }),
    ),
  } satisfies Record<keyof typeof filterSays | 'all', unknown>,
  { additionalProperties: false },
)

/** Row 18 with its brand; what we know ourselves may be left out. */
export const OurDeviceRecord = Type.Object(
  {
    brand: Type.Optional(numberOfBrand),
    user_id: Type.String({ minLength: 1 }),
    tokens: Type.Array(
      Type.Object({ ...DeviceTokenRecord.properties, channel: Type.Optional(DeviceTokenRecord.properties.channel) }),
      { maxItems: mostTokens },
    ),
    timestamp: Type.Optional(Type.String({ format: 'date-time', description: 'Left out: now' })),
    origin: Type.Optional(Type.String()),
    skip_publishing: Type.Optional(Type.Boolean()),
  },
  { $id: 'OurDeviceRecord' },
)
const deviceRecords = {
  ...json(Type.Union([OurDeviceRecord, Type.Array(OurDeviceRecord, { maxItems: mostRecords })])),
  ...textOf('application/x-ndjson', 'One record in each line'),
}

const DevicesAnswer = Type.Object({
  accepted: whole('Tokens that were read and are now known'),
  linked: whole(),
  moved: whole(),
  unlinked: whole(),
  unchanged: whole('Known already, or something later was'),
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
        brand: brandNumber(filterSays.brand),
        user_id: 'The user. Required.',
      },
      gives: json(Type.Object({ devices: Type.Array(ShownDevice) })),
      async handler(request, key) {
        const { brand, user_id: userId } = request.query as Query
        if (!userId) throw new HttpError(400, 'user_id is missing: ask with ?brand=1&user_id=1001')
        return { devices: (await registry.list(brandOf(brand, key), userId)).map(shownDevice) }
      },
    },
    {
      method: 'GET',
      url: '/admin/devices/removed',
      scope: 'read',
      says: 'Lists devices that were removed, the latest first, a page at a time.',
      query: {
        ...filterSays,
        brand: brandNumber(filterSays.brand),
        since: Type.String({ format: 'date-time', description: filterSays.since }),
        until: Type.String({ format: 'date-time', description: filterSays.until }),
        limit: limitOf(mostListed),
        after: 'The `next` of the page before.',
      },
      gives: json(Type.Object({ removed: Type.Array(ShownRemoval), next: nullable(Type.String()) })),
      async handler(request, key) {
        const { limit, after, ...query } = request.query as Query
        const most = Math.min(wholeNumber('limit', limit, 100, 1), mostListed)
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
        says: `${what === 'link' ? 'Links' : 'Unlinks'} devices: one record, an array of them, or one in each line. What cannot be read holds up nothing else.`,
        body: deviceRecords,
        largeBody: true,
        gives: json(DevicesAnswer),
        handler: (request, key) => takeAll(request, key, { registry, what, judge }),
      }),
    ),
    {
      method: 'POST',
      url: '/admin/devices/restore',
      scope: 'manage',
      says: 'Links the removed devices that match again, unless something else became of them.',
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
 * One record of row 18 with its `brand`, an array of them, or NDJSON. A record that is wrong does not hold up the others:
 * it is named in the answer (a single one: 400).
 */
async function takeAll(
  request: FastifyRequest,
  key: AccessKey,
  { registry, what, judge }: DeviceAdmin & { readonly what: 'link' | 'unlink' },
): Promise<DevicesAnswer> {
  const { single, records } = recordsIn(bodyOf(request), request.headers['content-type'] ?? '')
  if (records.length > mostRecords)
    throw new HttpError(413, `${records.length} records in one request: send at most ${mostRecords} at a time`)
  const answer: DevicesAnswer = { ...nothingTaken(), refused_count: 0, refused: [] }
  const events: DeviceEvent[] = []
  for (const [i, record] of records.entries()) {
    const read = readOne(record, key, what, judge)
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

function readOne(
  record: unknown,
  key: AccessKey,
  what: 'link' | 'unlink',
  judge: Judge | undefined,
): readonly DeviceEvent[] | Invalid {
  if (record instanceof Unreadable) return { invalid: record.why }
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

class Unreadable {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

function recordsIn(body: Buffer, type: string): { single: boolean; records: readonly unknown[] } {
  if (/ndjson|jsonl/i.test(type)) {
    const lines = body.toString('utf8').split('\n')
    if (lines.at(-1)?.trim() === '') lines.pop()
    return { single: false, records: lines.map(parsed) }
  }
  const value = parsed(body.toString('utf8'))
  if (value instanceof Unreadable) throw new HttpError(400, value.why)
  return Array.isArray(value) ? { single: false, records: value } : { single: true, records: [value] }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Of its message only the kind: what surrounds the mistake may be a token.
    return new Unreadable(`it is not JSON: ${(error as Error).message.replace(/[,:]? ?["'`…].*$/s, '')}`)
  }
}

/** The brand that is named, or the only one of the key. */
function brandOf(named: unknown, key: AccessKey): string {
  const brand = named ?? (key.brands?.length === 1 ? key.brands[0] : undefined)
  const text = typeof brand === 'number' && Number.isSafeInteger(brand) ? String(brand) : brand
  if (typeof text !== 'string' || !/^(0|[1-9]\d{0,18})$/.test(text))
    throw new HttpError(400, 'brand is missing: name it by its number, such as "1", or use a key of one brand')
  if (!(key.brands?.includes(text) ?? true))
    throw new HttpError(403, `the key ${key.name} may not act for brand ${text}`)
  return text
}

/** A filter with something unknown in it is refused: it would restore more than was meant. */
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
