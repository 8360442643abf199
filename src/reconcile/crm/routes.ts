// /admin/attributes: what the CRM holds of its users.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { brandNumber, json, textOf } from '../../contract/documents/described.ts'
import { reconciliationFields } from '../../contract/records.ts'
import { shown } from '../../contract/shown.ts'
import type { AccessKey } from '../../http/access.ts'
import { type AdminRoute, jsonObject } from '../../http/admin-access.ts'
import { HttpError } from '../../http/http.ts'
import { mediaTypeOf } from '../../http/request-bodies.ts'
import { clock } from '../../runtime/clock.ts'
import type { Database } from '../../store/database.ts'
import { readTimestamp } from '../timestamp.ts'
import { ImportAnswer, importUsers } from './import.ts'
import { readRecord } from './read-line.ts'
import { putCrmUsers, readCrmUser } from './users.ts'

const userAttributes = Type.Object({
  ...Object.fromEntries(reconciliationFields.map((field) => [field, Type.Optional(Type.Boolean())])),
  updated_at: Type.Optional(Type.String({ format: 'date-time', description: 'Left out: now' })),
})

const Held = Type.Object({
  brand: Type.String(),
  user_id: Type.String(),
  attributes: Type.Object(
    Object.fromEntries(
      reconciliationFields.map((field) => [
        field,
        Type.Optional(Type.Object({ value: Type.Boolean(), changed_at: Type.String({ format: 'date-time' }) })),
      ]),
    ),
  ),
})

export function crmRoutes(database: Database): readonly AdminRoute[] {
  return [
    {
      method: 'POST',
      url: '/admin/attributes/:brand',
      scope: 'manage',
      says: 'Fills the CRM with what is known of its users: one in each line, of any length.',
      params: { brand: brandNumber() },
      query: {
        as_of: Type.String({
          format: 'date-time',
          description: 'When the export was made; lines without updated_at count as changed then. Left out: now.',
        }),
      },
      body: {
        ...textOf('application/x-ndjson', 'One user in each line'),
        ...textOf('text/csv', 'A line of names, then one user in each line'),
      },
      streamed: ['application/x-ndjson', 'application/jsonl', 'text/csv'],
      gives: json(ImportAnswer),
      async handler(request, key) {
        const brand = brandOf(request, key)
        const format = mediaTypeOf(request) === 'text/csv' ? 'csv' : 'ndjson'
        if (!request.body) throw new HttpError(400, 'the body is empty: send one user in each line')
        const now = clock.now()
        return importUsers(request.body as AsyncIterable<Buffer>, {
          database,
          brand,
          format,
          now,
          at: asOf(request, now),
        })
      },
    },
    {
      method: 'GET',
      url: '/admin/attributes/:brand/:user',
      scope: 'read',
      says: 'Shows what the CRM holds of one user.',
      params: { brand: brandNumber(), user: 'The user id.' },
      gives: json(Held),
      async handler(request, key) {
        const brand = brandOf(request, key)
        const { user } = request.params as { user: string }
        const attributes = await readCrmUser(database, brand, user)
        if (!attributes) throw new HttpError(404, `the CRM knows no user ${shown(user)} of brand ${brand}`)
        return { brand, user_id: user, attributes }
      },
    },
    {
      method: 'POST',
      url: '/admin/attributes/:brand/:user',
      scope: 'manage',
      says: 'Changes what the CRM holds of one user; attributes that are not named stay as they are.',
      params: { brand: brandNumber(), user: 'The user id.' },
      body: json(userAttributes),
      gives: json(Type.Object({ ...Held.properties, changed: Type.Boolean() })),
      async handler(request, key) {
        const brand = brandOf(request, key)
        const { user } = request.params as { user: string }
        const now = clock.now()
        const read = readRecord({ ...jsonObject(request), user_id: user }, { brand, at: now, now })
        if ('invalid' in read) throw new HttpError(400, read.invalid)
        const changed = await putCrmUsers(database, brand, [read])
        return { brand, user_id: user, changed: changed === 1, attributes: await readCrmUser(database, brand, user) }
      },
    },
  ]
}

/** @throws HttpError for a brand that this key may not see (row 31) */
function brandOf(request: FastifyRequest, key: AccessKey): string {
  const { brand } = request.params as { brand: string }
  if (!/^(0|[1-9]\d{0,18})$/.test(brand)) throw new HttpError(400, `${shown(brand)} is not the number of a brand`)
  if (key.brands && !key.brands.includes(brand))
    throw new HttpError(403, `the key ${key.name} is not for brand ${brand}: add it to its brands in the configuration`)
  return brand
}

/** ?as_of=: when the export was made. Lines without updated_at count as changed then. */
function asOf(request: FastifyRequest, now: number): number {
  const { as_of: text } = request.query as { as_of?: string }
  if (text === undefined) return now
  const at = readTimestamp(text)
  if (at === undefined || at > now) throw new HttpError(400, 'as_of must be a past time, as 2020-01-01T10:00:00Z')
  return at
}
