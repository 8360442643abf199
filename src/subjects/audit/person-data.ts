// The entries about a person.

import type { PersonPart } from '../../base/people/person-data.ts'
import { readPages } from '../../base/runtime/read-pages.ts'
import { op } from '../../base/store/statement.ts'
import { lineOf } from './chain.ts'
import { eraseUser, listAudit } from './table.ts'

const pageRows = 500

export const auditPersonPart: PersonPart = {
  name: 'audit',
  tables: [
    {
      table: 'audit',
      emptied: ['user_id', 'user_salt'],
      kept: {
        user_digest: 'a part of the chain of digests; without its salt, nobody can guess the user',
        details: 'a part of the chain: the decisions about the person, which the operator must be able to prove',
      },
      impersonal: ['serial', 'at', 'act', 'by', 'address', 'brand', 'digest'],
    },
  ],
  async *read(database, { brand, userId }) {
    const read = (before: number) => listAudit(database, { user: userId }, before, pageRows)
    for await (const rows of readPages('serial', Number.MAX_SAFE_INTEGER, pageRows, read)) {
      // A search without a brand is about the users of all brands.
      const own = rows.filter((row) => row.brand === brand || row.brand === null)
      yield own.map((row) => JSON.parse(lineOf(row, '')))
    }
  },
  async erase(database, { brand, userId, at }) {
    const [changed] = await database.commit([op(eraseUser, [[brand, userId, at]])])
    return { erased: changed.length, waiting: 0 }
  },
}
