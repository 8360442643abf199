// The data of a person: everything that this side holds about one user is exported, or erased by a job.

import { type Static, Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { type Erasure, findErasure, listErasures, requestErasure } from '../../base/people/erasures.ts'
import { countPerson, keptColumns, type PersonParts, unfoundRows, writePerson } from '../../base/people/person-data.ts'
import { clock } from '../../base/runtime/clock.ts'
import type { Database } from '../../base/store/database.ts'
import { brandNumber, moment, text, textOf, userId, whole } from '../../contract/documents/described.ts'
import { shown } from '../../contract/shown.ts'
import { ErasedUser, PreviewedUser } from './requests.ts'
import { adminRoute } from './route.ts'
import { sendFile } from './send-file.ts'
import { isBrandVisible } from './visibility.ts'

/** A store with data of people. */
export interface PeopleStore {
  readonly database: Database
  readonly parts: PersonParts
}

export interface People {
  /** The store of a brand. Undefined: this side has no such brand. */
  readonly storeOf: (brand: string) => PeopleStore | undefined
  readonly stores: readonly PeopleStore[]
}

const dateTime = Type.String({ format: 'date-time' })

const ShownErasure = Type.Object({
  id: Type.String(),
  side: Type.Enum(['operator', 'platform']),
  brand: Type.String(),
  user_digest: text('Stands for the user id in the rows that stay'),
  state: Type.Enum(['running', 'done']),
  requested_at: moment('The time of the request'),
  requested_by: text('The name of the key'),
  done_at: Type.Optional(moment('The time when nothing of the user was left')),
  erased: Type.Record(Type.String(), whole(), { description: 'The number of erased rows of each list of the export' }),
  waiting: whole('Rows that are in use, and are erased as soon as they are settled'),
  kept: Type.Array(Type.Object({ column: text('table.column'), as: Type.String(), why: Type.String() }), {
    description: 'The kept data, with the reasons',
  }),
})

export function peopleRoutes(side: 'operator' | 'platform', { storeOf, stores }: People) {
  return {
    exportPerson: adminRoute({
      says: 'Returns everything that this side holds about one user, as a JSON file.',
      params: Type.Object({ brand: brandNumber(), user: userId() }),
      gives: Type.Object(
        { side: Type.String(), brand: Type.String(), user_id: Type.String(), exported_at: dateTime },
        {
          additionalProperties: Type.Array(Type.Object({}, { additionalProperties: true })),
          description: 'Also a list for each kind of data, such as messages, devices and inbox',
        },
      ),
      async handler({ params: { brand, user } }, key, reply) {
        const { parts } = demandStore(brand, key)
        const head = { side, brand, user_id: user, exported_at: new Date(clock.now()).toISOString() }
        const lines = writePerson(head, { brand, userId: user }, parts)
        return sendFile(reply, `person-${side}-${brand}.json`, 'application/json', lines)
      },
    }),
    previewErasure: adminRoute({
      says: 'Counts the rows that an erasure would erase or change.',
      body: PreviewedUser,
      gives: Type.Object({
        rows: Type.Record(Type.String(), whole(), { description: 'The number of rows of each list of the export' }),
      }),
      async handler({ body: { brand: given, user_id: userId } }, key) {
        const brand = String(given)
        return { rows: await countPerson({ brand, userId }, demandStore(brand, key).parts) }
      },
    }),
    erase: adminRoute({
      says: 'Begins to erase everything that this side holds about one user. The erasure goes on after a restart.',
      body: ErasedUser,
      gives: ShownErasure,
      async handler({ body: { brand: given, user_id: userId } }, key) {
        const brand = String(given)
        const { database, parts } = demandStore(brand, key)
        const id = await requestErasure(database, { brand, userId }, key.name, key.audit.ops)
        return shownErasure((await findErasure(database, id)) as Erasure, parts)
      },
    }),
    listErasures: adminRoute({
      says: 'Returns all erasures with digests instead of user ids, for `bellwire restore --erasures`.',
      files: textOf('application/x-ndjson', 'One erasure per line, with the secret of the digests of its brand'),
      async handler(_request, key, reply) {
        return sendFile(reply, `erasures-${side}.ndjson`, 'application/x-ndjson', writeErasures(key))
      },
    }),
    showErasure: adminRoute({
      says: 'Returns the state of an erasure, and at its end the report.',
      params: Type.Object({ id: text('The id in the answer of POST /admin/people/erase.') }),
      gives: ShownErasure,
      refuses: { 404: 'There is no such erasure, or this key may not see it.' },
      async handler({ params: { id } }, key) {
        for (const { database, parts } of stores) {
          const found = await findErasure(database, id)
          if (found && isBrandVisible(key, found.brand)) return shownErasure(found, parts)
        }
        throw new HttpError(404, `there is no erasure ${shown(id)} here`)
      },
    }),
  }

  async function* writeErasures(key: AccessKey): AsyncGenerator<string> {
    for (const { database } of stores)
      for (const erasure of await listErasures(database))
        if (isBrandVisible(key, erasure.brand)) yield `${JSON.stringify({ side, ...erasure })}\n`
  }

  function shownErasure(erasure: Erasure, parts: PersonParts): Static<typeof ShownErasure> {
    const { id, brand, digest, at, requested_by, done_at: doneAt, counts, waiting } = erasure
    return {
      id,
      side,
      brand,
      user_digest: digest,
      state: doneAt === null ? 'running' : 'done',
      requested_at: at,
      requested_by,
      ...(doneAt !== null && { done_at: doneAt }),
      erased: JSON.parse(counts),
      waiting,
      kept: [...keptColumns(parts), ...unfoundRows(parts)],
    }
  }

  function demandStore(brand: string, key: AccessKey): PeopleStore {
    const store = isBrandVisible(key, brand) ? storeOf(brand) : undefined
    if (store) return store
    throw new HttpError(403, `the key ${key.name} is not for brand ${brand}, or this ${side} has no such brand`)
  }
}
