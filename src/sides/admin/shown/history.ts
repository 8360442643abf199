// The history of a message, as /admin shows it: attempts, identifiers and calls.

import { Type } from 'typebox'
import type { Attempt, Identifier } from '../../../base/queue/queue.ts'
import { moment, nullable, text, whole } from '../../../contract/documents/described.ts'

/** An unsuccessful attempt, as /admin shows it on both lists: Failed Actions and messages. */
export const ShownAttempt = Type.Object({
  replay: whole('How often the message was replayed before'),
  attempt: whole(
    'The number of the attempt since the message was enqueued or replayed, from 1. 0: it failed without an attempt',
  ),
  at: moment('The end of the attempt'),
  outcome: Type.Enum(['fatal', 'failed']),
  status: nullable(whole('The HTTP status of the answer')),
  rule: text('The rule that decided the outcome'),
  reason: Type.String(),
  error: Type.String(),
  answer: nullable(text('The beginning of the answer')),
  call: nullable(text('The number of the call')),
  replayed_by: nullable(text('The name of the key that replayed the message after this failure')),
  replayed_at: nullable(moment('The time of that replay')),
})

export function shownAttempt({ replayedBy, replayedAt, ...attempt }: Attempt) {
  return {
    ...attempt,
    replayed_by: replayedBy,
    replayed_at: replayedAt,
  }
}

/** The identifiers of a message, as /admin shows them. */
export const ShownIdentifiers = Type.Array(
  Type.Object({
    ref: text('push_id or site_notification_id'),
    replayed_at: nullable(moment('The time of the replay that ended it')),
  }),
  { description: 'All identifiers that the operator answered; the present one is the last' },
)

export const shownIdentifiers = (identifiers: readonly Identifier[]) =>
  identifiers.map(({ ref, replayedAt }) => ({ ref, replayed_at: replayedAt }))

/** A call to a provider, as /admin shows it on both sides. */
export const ShownCall = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  at: moment('Start of the call'),
  ms: whole('Duration in milliseconds'),
  messages: whole(),
  rule: Type.String(),
  answer: nullable(Type.String()),
  error: nullable(Type.String()),
})
