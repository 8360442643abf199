// The entries about a person.

import type { PersonPart } from '../../base/people/person-data.ts'
import { lineOf } from './chain.ts'
import { listAudit } from './table.ts'

const pageRows = 500

export const auditPersonPart: PersonPart = {
  name: 'audit',
  tables: [
    {
      table: 'audit',
      emptied: ['user_id'],
      kept: {
        user_digest: 'a part of the chain of digests',
        details: 'a part of the chain: the decisions about the person, which the operator must be able to prove',
      },
      impersonal: ['serial', 'at', 'act', 'by', 'address', 'brand', 'digest'],
    },
  ],
  async *read(database, { brand, userId }) {
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = await listAudit(database, { brand, user: userId }, before, pageRows)
      yield rows.map((row) => JSON.parse(lineOf(row, '')))
      if (rows.length < pageRows) return
      before = rows.at(-1)?.serial as number
    }
  },
}
