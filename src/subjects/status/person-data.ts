// The statuses of a person's messages at the operator, with their meta.

import type { IdentifiedPart } from '../../base/people/person-data.ts'
import { op } from '../../base/store/statement.ts'
import { eraseStatusMessages, selectMessages, selectStatuses } from './tables.ts'

export const statusPersonPart: IdentifiedPart<string> = {
  name: 'statuses',
  tables: [
    { table: 'status_messages', digest: ['user_id'], emptied: ['meta'], impersonal: ['ref', 'brand', 'channel'] },
    {
      table: 'statuses',
      kept: { status: 'the counts of the platform' },
      impersonal: ['ref', 'brand', 'at', 'recorded_at', 'number'],
    },
  ],
  async read(database, refs) {
    const found = await database.read(op(selectMessages, refs, (ref) => [ref]))
    return Promise.all(
      found.map(async ({ ref, meta }) => ({ ref, meta, statuses: await database.read(op(selectStatuses, [[ref]])) })),
    )
  },
  eraseOps: (refs, { userDigest }) => [op(eraseStatusMessages, refs, (ref) => [ref, userDigest])],
}
