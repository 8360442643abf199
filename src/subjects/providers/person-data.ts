// The calls of a person's messages.

import type { IdentifiedPart } from '../../base/people/person-data.ts'
import { op } from '../../base/store/statement.ts'
import { eraseCalls, findCall } from './calls.ts'

/** By the ids of the calls. */
export const callPersonPart: IdentifiedPart<string> = {
  name: 'calls',
  tables: [
    { table: 'calls', emptied: ['answer', 'error'], impersonal: ['id', 'provider', 'at', 'ms', 'messages', 'rule'] },
  ],
  read: (database, ids) => database.read(op(findCall, rowsOf(ids))),
  eraseOps: (ids) => [op(eraseCalls, rowsOf(ids))],
}

const rowsOf = (ids: readonly string[]): string[][] => [...new Set(ids)].map((id) => [id])
