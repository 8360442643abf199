// A person's attributes in the CRM, and the discrepancies about the person.

import type { PersonPart } from '../../base/people/person-data.ts'
import { firstUuidv7 } from '../../base/runtime/ids.ts'
import { op } from '../../base/store/statement.ts'
import { eraseUser, readCrmUser } from './crm/users.ts'
import { eraseUserOf, selectOfPerson } from './discrepancies.ts'

export const crmPersonParts: readonly PersonPart[] = [
  {
    name: 'attributes',
    tables: [{ table: 'crm_users', deleted: true }],
    async *read(database, { brand, userId }) {
      const attributes = await readCrmUser(database, brand, userId)
      if (attributes) yield [attributes]
    },
    async erase(database, { brand, userId, at }) {
      const [gone] = await database.commit([op(eraseUser, [[brand, userId, at]])])
      return { erased: gone.length, waiting: 0 }
    },
  },
  {
    name: 'discrepancies',
    tables: [
      {
        table: 'discrepancies',
        digest: ['user_id'],
        impersonal: ['brand', 'run', 'n', 'field', 'direction', 'severity', 'crm_at', 'correction'],
      },
    ],
    async *read(database, { brand, userId }) {
      yield await database.read(op(selectOfPerson, [[brand, userId]]))
    },
    async erase(database, { brand, userId, userDigest, at }) {
      const [changed] = await database.commit([op(eraseUserOf, [[brand, userId, firstUuidv7(at + 1), userDigest]])])
      return { erased: changed.length, waiting: 0 }
    },
  },
]
