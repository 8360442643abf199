import { Type } from 'typebox'
import { moment, nullable, whole } from '../../contract/documents/described.ts'
import type { Attempt } from '../../queue/queue.ts'

/** An unsuccessful attempt, as /admin shows it on both lists: Failed Actions and messages. */
export const ShownAttempt = Type.Object({
  replay: whole('How often the message was replayed before'),
  attempt: whole(
    'The number of the attempt since the message was enqueued or replayed, from 1. 0: it failed without an attempt',
  ),
  at: moment('The end of the attempt'),
  outcome: Type.Enum(['fatal', 'failed']),
  status: nullable(whole('The HTTP status of the answer')),
  rule: Type.String({ description: 'The rule that decided the outcome' }),
  reason: Type.String(),
  error: Type.String(),
  answer: nullable(Type.String({ description: 'The beginning of the answer' })),
  call: nullable(Type.String({ description: 'The number of the call' })),
  replayed_by: nullable(
    Type.String({ description: 'The name of the key that replayed the message after this failure' }),
  ),
  replayed_at: nullable(moment('The time of that replay')),
})

export function shownAttempt({ replayedBy, replayedAt, ...attempt }: Attempt) {
  return {
    ...attempt,
    replayed_by: replayedBy,
    replayed_at: replayedAt,
  }
}
