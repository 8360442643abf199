// The data of a person: everything that this side holds about one user.

import { Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { type PersonParts, writePerson } from '../../base/people/person-data.ts'
import { clock } from '../../base/runtime/clock.ts'
import { brandNumber, userId } from '../../contract/documents/described.ts'
import { adminRoute } from './route.ts'
import { sendFile } from './send-file.ts'

const dateTime = Type.String({ format: 'date-time' })

/** @param partsOf the parts of the store of a brand. Undefined: this side has no such brand */
export function peopleRoutes(side: 'operator' | 'platform', partsOf: (brand: string) => PersonParts | undefined) {
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
        const parts = demandParts(brand, key)
        const head = { side, brand, user_id: user, exported_at: new Date(clock.now()).toISOString() }
        const lines = writePerson(head, { brand, userId: user }, parts)
        return sendFile(reply, `person-${side}-${brand}.json`, 'application/json', lines)
      },
    }),
  }

  function demandParts(brand: string, key: AccessKey): PersonParts {
    const parts = key.brands?.includes(brand) === false ? undefined : partsOf(brand)
    if (parts) return parts
    throw new HttpError(403, `the key ${key.name} is not for brand ${brand}, or this ${side} has no such brand`)
  }
}
