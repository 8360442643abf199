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
  async read(database, ids) {
    const calls = await database.read(op(findCall, rowsOf(ids)))
    // The answer and the error of a call with several messages may have data of another user.
    return calls.map((call) => (call.messages === 1 ? call : { ...call, answer: null, error: null }))
  },
  eraseOps: (ids) => [op(eraseCalls, rowsOf(ids))],
}

const rowsOf = (ids: readonly string[]): string[][] => [...new Set(ids)].map((id) => [id])
