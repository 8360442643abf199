// §7.1, §7.2, row 8: answers that are lost.

import { type Check, checksOf, should } from '../check.ts'
import { expect, NotJudged } from '../verdict.ts'
import { cutBy, expectRetried } from './expect-retried.ts'
import type { Lane } from './lane.ts'
import { isFirst, oneRecord } from './one-record.ts'
import { cutBody, hang, reset, successful } from './replies.ts'

/** The connection is reset, then cut within the answer. */
export const lostAnswers = oneRecord((target) => (open) => {
  if (isFirst(open)) return reset
  return open.messages[0]?.attempt === 2 ? cutBody(target, open) : successful(target, open)
})

const consequence = 'Messages are lost whenever a connection breaks or the operator restarts.'

const lostChecks = checksOf(lostAnswers, [
  {
    ...should('lost.reset', '§7.1, §7.2', 8),
    title: 'A message is sent again if the connection is reset instead of an answer.',
    consequence,
    remedy:
      'Treat an error of the connection as a fatal outcome: keep the messages, and send them again after a pause.',
    judge: ({ trace }) => expectRetried(trace, cutBy('reset', 'the connection was reset')),
  },
  {
    ...should('lost.cut', '§7.1, §7.2', 8),
    title: 'A message is sent again if the connection ends within the answer.',
    consequence,
    remedy:
      'Use an answer only if it is complete: Content-Length bytes, or the last chunk. Otherwise send the messages again.',
    judge: ({ trace }) => expectRetried(trace, cutBy('body', 'the answer was cut')),
  },
])

/** The end of a request and the next one arrive in any order. */
const toleranceMs = 300

const hanging = oneRecord(
  (target) => (open) => (isFirst(open) ? hang : successful(target, open)),
  ['timeout of the platform'],
)

const hangChecks = checksOf(hanging, [
  {
    ...should('lost.timeout', '§7.1, §7.2', 30),
    title: 'A message is sent again if no answer comes within the timeout of the platform.',
    consequence:
      'One request without an answer stops all messages of the operator until somebody restarts the platform.',
    remedy: 'Set a timeout for the whole request, and send the messages again when it ends.',
    judge: ({ trace }) => expectRetried(trace, cutBy('hang', 'no answer was sent')),
  },
  {
    ...should('lost.in-flight', '§7.1, §7.2'),
    title: 'A message is not sent again while its request is open, until the timeout of the platform.',
    consequence: 'Whenever an answer is late, the operator gets the message twice, and may deliver it twice.',
    remedy:
      'Let one worker own a message until its request has ended. Set one timeout, and no second request before it.',
    judge: ({ trace, record }, { facts: { platformTimeout = 0 } }) => {
      const [first, second] = trace.of(record)
      if (!first || !second) throw new NotJudged('the message did not come again (lost.timeout)')
      const end = Math.min(first.endedAt ?? Number.POSITIVE_INFINITY, first.at + platformTimeout)
      const early = Math.round(end - second.at)
      expect(
        early <= toleranceMs,
        `${second.label}: sent ${early} ms before the end of ${first.label}, which had no answer`,
      )
    },
  },
])

export const connectionChecks: readonly Check<Lane>[] = [...lostChecks, ...hangChecks]
