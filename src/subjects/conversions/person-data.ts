// The statuses that operators reported for a person's messages, with their meta.

import type { IdentifiedPart } from '../../base/people/person-data.ts'
import type { LaneRef } from '../../base/queue/find-refs.ts'
import { op } from '../../base/store/statement.ts'
import { eraseMeta, selectReported } from './tables.ts'

export const conversionPersonPart: IdentifiedPart<LaneRef> = {
  name: 'statuses',
  tables: [
    {
      table: 'reported_statuses',
      emptied: ['meta'],
      kept: { status: 'the counts of conversions' },
      impersonal: ['lane', 'ref', 'at', 'received_at'],
    },
  ],
  read: (database, ids) => database.read(op(selectReported, ids, ({ lane, ref }) => [lane, ref])),
  eraseOps: (ids) => [op(eraseMeta, ids, ({ lane, ref }) => [lane, ref])],
}
