// The routes under /admin/attributes: the users' attributes in the CRM.

import { type Static, Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http.ts'
import { mediaTypeOf } from '../../base/http/request-bodies.ts'
import { clock } from '../../base/runtime/clock.ts'
import type { Database } from '../../base/store/database.ts'
import { brandNumber, nullable, text, textOf, timeText } from '../../contract/documents/described.ts'
import { reconciliationFields } from '../../contract/records.ts'
import { shown } from '../../contract/shown.ts'
import { ImportAnswer, importUsers } from '../../subjects/reconcile/crm/import-users.ts'
import { findLifted } from '../../subjects/reconcile/crm/protections.ts'
import { readRecord } from '../../subjects/reconcile/crm/read-line.ts'
import { type Field, readCrmUser, upsertCrmUsers } from '../../subjects/reconcile/crm/users.ts'
import { readTimestamp } from '../../subjects/reconcile/timestamp.ts'
import { demandLift, refusesLift } from './lift.ts'
import { liftReason } from './requests.ts'
import { adminRoute } from './route.ts'

const Brand = Type.Object({ brand: brandNumber() })
const User = Type.Object({ brand: brandNumber(), user: text('The user id.') })

const Attributes = Type.Object({
  ...Object.fromEntries(reconciliationFields.map((field) => [field, Type.Optional(nullable(Type.Boolean()))])),
  updated_at: Type.Optional(nullable(timeText(readTimestamp, 'The time of the change. Default: now.'))),
  reason: liftReason,
})

const held = {
  brand: Type.String(),
  user_id: Type.String(),
  attributes: Type.Partial(
    Type.Record(
      Type.Enum([...reconciliationFields]),
      Type.Object({ value: Type.Boolean(), changed_at: Type.String({ format: 'date-time' }) }),
    ),
  ),
}

/** @param databaseOf the database of a brand */
export function attributeRoutes(databaseOf: (brand: string) => Database) {
  return {
    importUsers: adminRoute({
      says: 'Imports users and their attributes into the CRM, one user per line, any number of lines.',
      params: Brand,
      query: Type.Object({
        as_of: Type.Optional(
          timeText(
            readTimestamp,
            'The time of the export. Lines without updated_at count as changed then. Default: now.',
          ),
        ),
        reason: liftReason,
      }),
      bodies: {
        ...textOf('application/x-ndjson', 'One user in each line'),
        ...textOf('text/csv', 'A line of names, then one user in each line'),
      },
      streamed: ['application/x-ndjson', 'application/jsonl', 'text/csv'],
      gives: ImportAnswer,
      async handler(request, key) {
        const brand = brandOf(request.params, key)
        const format = mediaTypeOf(request) === 'text/csv' ? 'csv' : 'ndjson'
        if (!request.body) throw new HttpError(400, 'the body is empty: send one user per line')
        const now = clock.now()
        return importUsers(request.body as AsyncIterable<Buffer>, {
          database: databaseOf(brand),
          brand,
          format,
          now,
          at: asOf(request.query.as_of, now),
          refusesLift: refusesLift(key, request.query.reason),
          also: (count, lifted) =>
            key.audit.ops(
              { count },
              ...[...lifted].map(([user, fields]) => ({ user, old: allOf(fields, true), new: allOf(fields, false) })),
            ),
        })
      },
    }),
    show: adminRoute({
      says: 'Returns the attributes of one user in the CRM.',
      params: User,
      gives: Type.Object(held),
      async handler(request, key) {
        const brand = brandOf(request.params, key)
        const { user } = request.params
        const attributes = await readCrmUser(databaseOf(brand), brand, user)
        if (!attributes) throw new HttpError(404, `the CRM has no user ${shown(user)} of brand ${brand}`)
        return { brand, user_id: user, attributes }
      },
    }),
    change: adminRoute({
      says: 'Changes attributes of one user in the CRM. Other attributes do not change.',
      params: User,
      body: Attributes,
      gives: Type.Object({ ...held, changed: Type.Boolean() }),
      async handler(request, key) {
        const brand = brandOf(request.params, key)
        const { user } = request.params
        const now = clock.now()
        const { reason, ...attributes } = request.body
        const read = readRecord({ ...attributes, user_id: user }, { brand, at: now, now })
        if ('invalid' in read) throw new HttpError(400, read.invalid)
        const database = databaseOf(brand)
        const lifted = (await findLifted(database, brand, [read])).get(read.userId)
        if (lifted) demandLift(key, reason, `this ends ${lifted.join(' and ')} of user ${shown(user)}`)
        const before = (await readCrmUser(database, brand, user)) ?? {}
        const old = Object.fromEntries(Object.keys(read.values).map((field) => [field, before[field as Field]?.value]))
        const also = key.audit.ops({ old, new: read.values, given: undefined })
        const changed = await upsertCrmUsers(database, brand, [read], { also, mayLift: lifted !== undefined })
        const stored = (await readCrmUser(database, brand, user)) ?? {}
        return { brand, user_id: user, changed: changed === 1, attributes: stored }
      },
    }),
  }
}

/** @example allOf(['blocked'], true) // { blocked: true } */
const allOf = (fields: readonly string[], value: boolean) => Object.fromEntries(fields.map((field) => [field, value]))

/** @throws HttpError for a brand that this key may not see (row 31) */
function brandOf({ brand }: Static<typeof Brand>, key: AccessKey): string {
  if (key.brands && !key.brands.includes(brand))
    throw new HttpError(
      403,
      `the key ${key.name} may not use brand ${brand}: add the brand to the key in the configuration`,
    )
  return brand
}

/** ?as_of=: the time of the export, and of the last change of each line without updated_at. */
function asOf(text: string | undefined, now: number): number {
  const at = text === undefined ? now : (readTimestamp(text) as number)
  if (at > now) throw new HttpError(400, 'as_of is in the future: give a past time, as 2020-01-01T10:00:00Z')
  return at
}
