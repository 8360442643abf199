// A person's attributes in the CRM, and the discrepancies about the person.

import type { PersonPart } from '../../base/people/person-data.ts'
import { op } from '../../base/store/statement.ts'
import { readCrmUser } from './crm/users.ts'
import { selectOfPerson } from './discrepancies.ts'

export const crmPersonParts: readonly PersonPart[] = [
  {
    name: 'attributes',
    tables: [{ table: 'crm_users', deleted: true }],
    async *read(database, { brand, userId }) {
      const attributes = await readCrmUser(database, brand, userId)
      if (attributes) yield [attributes]
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
  },
]
