// The routes under /admin/attributes: the users' attributes in the CRM.

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
import { ImportAnswer, importUsers } from './import-users.ts'
import { readRecord } from './read-line.ts'
import { readCrmUser, upsertCrmUsers } from './users.ts'

const userAttributes = Type.Object({
  ...Object.fromEntries(reconciliationFields.map((field) => [field, Type.Optional(Type.Boolean())])),
  updated_at: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now' })),
})

const StoredAttributes = Type.Object({
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
      says: 'Imports users and their attributes into the CRM, one user per line, any number of lines.',
      params: { brand: brandNumber() },
      query: {
        as_of: Type.String({
          format: 'date-time',
          description: 'The time of the export. It is the time of change for lines without updated_at. Default: now.',
        }),
      },
      body: {
        ...textOf('application/x-ndjson', 'One user per line'),
        ...textOf('text/csv', 'A header line, then one user per line'),
      },
      streamed: ['application/x-ndjson', 'application/jsonl', 'text/csv'],
      gives: json(ImportAnswer),
      async handler(request, key) {
        const brand = readBrand(request, key)
        const format = mediaTypeOf(request) === 'text/csv' ? 'csv' : 'ndjson'
        if (!request.body) throw new HttpError(400, 'the body is empty: send one user per line')
        const now = clock.now()
        return importUsers(request.body as AsyncIterable<Buffer>, {
          database,
          brand,
          format,
          now,
          at: readAsOf(request, now),
        })
      },
    },
    {
      method: 'GET',
      url: '/admin/attributes/:brand/:user',
      scope: 'read',
      says: 'Returns the attributes of one user in the CRM.',
      params: { brand: brandNumber(), user: 'The user id.' },
      gives: json(StoredAttributes),
      async handler(request, key) {
        const brand = readBrand(request, key)
        const { user } = request.params as { user: string }
        const attributes = await readCrmUser(database, brand, user)
        if (!attributes) throw new HttpError(404, `the CRM has no user ${shown(user)} of brand ${brand}`)
        return { brand, user_id: user, attributes }
      },
    },
    {
      method: 'POST',
      url: '/admin/attributes/:brand/:user',
      scope: 'manage',
      says: 'Changes attributes of one user in the CRM. Other attributes do not change.',
      params: { brand: brandNumber(), user: 'The user id.' },
      body: json(userAttributes),
      gives: json(Type.Object({ ...StoredAttributes.properties, changed: Type.Boolean() })),
      async handler(request, key) {
        const brand = readBrand(request, key)
        const { user } = request.params as { user: string }
        const now = clock.now()
        const read = readRecord({ ...jsonObject(request), user_id: user }, { brand, at: now, now })
        if ('invalid' in read) throw new HttpError(400, read.invalid)
        const changed = await upsertCrmUsers(database, brand, [read])
        return { brand, user_id: user, changed: changed === 1, attributes: await readCrmUser(database, brand, user) }
      },
    },
  ]
}

/** @throws HttpError for a brand that this key may not see (row 31) */
function readBrand(request: FastifyRequest, key: AccessKey): string {
  const { brand } = request.params as { brand: string }
  if (!/^(0|[1-9]\d{0,18})$/.test(brand))
    throw new HttpError(400, `brand is ${shown(brand)}, but must be the number of a brand`)
  if (key.brands && !key.brands.includes(brand))
    throw new HttpError(
      403,
      `the key ${key.name} may not use brand ${brand}: add the brand to the key in the configuration`,
    )
  return brand
}

/** Reads the query parameter as_of. */
function readAsOf(request: FastifyRequest, now: number): number {
  const { as_of: text } = request.query as { as_of?: string }
  if (text === undefined) return now
  const at = readTimestamp(text)
  if (at === undefined || at > now) throw new HttpError(400, 'as_of must be a past time, such as 2020-01-01T10:00:00Z')
  return at
}
