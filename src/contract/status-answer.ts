// The platform's answer to a call with delivery statuses (row 24).

import { type Static, Type } from 'typebox'
import { whole } from './documents/described.ts'

export const StatusAnswer = Type.Object(
  {
    accepted: whole('Records that are stored, now or before'),
    parked: whole(
      'Records that cannot be applied. A person at the platform decides about them. Do not send them again',
    ),
  },
  { $id: 'StatusAnswer' },
)
export type StatusAnswer = Static<typeof StatusAnswer>
