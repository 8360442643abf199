// §7.2: the reaction of a platform to the status of a batch.

import { type Check, checkOf, must, type Scenario, should } from '../check.ts'
import type { Target } from '../target.ts'
import { answered, expectRetried } from './expect-retried.ts'
import type { Lane, Trace } from './lane.ts'
import { type Open, status, successful } from './replies.ts'
import type { Reply } from './request.ts'

type AnswerOf = (target: Target, open: Open) => Reply

/** §7.2 rule 1: a batch whose first attempts are answered like this. Each scenario has records of its own, so that no fault hides another. */
function batchAnswered(answers: readonly AnswerOf[]): Scenario<Trace, Lane> {
  return {
    scope: 'batch',
    messages: 3,
    run: ({ target, make, play }) =>
      play({
        records: [make.message(), make.message(), make.message()],
        reply: (open) => {
          const attempt = Math.min(...open.messages.map((message) => message.attempt))
          return (answers[attempt - 1] ?? successful)(target, open)
        },
      }),
  }
}

const refused =
  (code: number): AnswerOf =>
  () =>
    status(code, 'retry')
/** The answer has the outcomes of a success. */
const accepted =
  (code: number): AnswerOf =>
  (target, open) =>
    status(code, 'retry', successful(target, open).body)
const unreadable = ['OK', '{}']

const retryRemedy =
  'Keep all messages of the batch in the queue, and send them again after a pause, for every status but 200.'

const retriedAfter = (isSuch: Parameters<typeof answered>[0]) => (trace: Trace) =>
  expectRetried(trace, answered(isSuch))

export const batchStatusChecks: readonly Check<Lane>[] = [
  checkOf(batchAnswered([refused(500), refused(503)]), {
    ...must('batch.5xx', '§7.2'),
    title: 'A batch that is answered with a status from 500 to 599 is sent again, with all its messages.',
    consequence: 'Every disturbance of the operator loses a batch of messages.',
    remedy: retryRemedy,
    judge: retriedAfter((code) => code >= 500),
  }),
  checkOf(batchAnswered([refused(400), refused(429)]), {
    ...must('batch.4xx', '§7.2'),
    title: 'A batch that is answered with a status from 400 to 499 is sent again, with all its messages.',
    consequence: 'A wrong key, or one message that the operator cannot read, loses hundreds of others.',
    remedy: `${retryRemedy} Only single messages are skipped after 4xx.`,
    judge: retriedAfter((code) => code >= 400 && code < 500),
  }),
  checkOf(batchAnswered([accepted(202), accepted(207)]), {
    ...must('batch.2xx', '§7.2'),
    title: 'A batch that is answered with another 2xx than 200 is sent again, with all its messages.',
    consequence: 'A 202 of a proxy that only accepted the batch counts as delivered: the batch is lost.',
    remedy: 'Compare the status with 200, not with the range from 200 to 299.',
    judge: retriedAfter((code) => code > 200 && code < 300),
  }),
  checkOf(batchAnswered(unreadable.map((body) => () => status(200, 'retry', body))), {
    ...should('batch.unreadable', '§2.4, §7.2', 48),
    title: 'A batch that is answered 200 without a batch response record is sent again.',
    consequence: 'The page of a proxy counts as an answer, and the whole batch is lost.',
    remedy: 'Treat a body that you cannot read as an answer from which all messages are absent.',
    judge: retriedAfter((code, body) => code === 200 && unreadable.includes(body)),
  }),
]
