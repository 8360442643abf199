import { Type } from 'typebox'
import { moment, nullable } from '../../contract/documents/described.ts'
import type { Identifier } from '../../queue/queue.ts'

/** The identifiers of a message, as /admin shows them. */
export const ShownIdentifiers = Type.Array(
  Type.Object({
    ref: Type.String({ description: 'push_id or site_notification_id' }),
    replayed_at: nullable(moment('The time of the replay that ended it')),
  }),
  { description: 'All identifiers that the operator answered; the present one is the last' },
)

export const shownIdentifiers = (identifiers: readonly Identifier[]) =>
  identifiers.map(({ ref, replayedAt }) => ({ ref, replayed_at: replayedAt }))
