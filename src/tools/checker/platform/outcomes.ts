// §2.4, §7.2: the reaction of a platform to the outcomes in the answer to a batch.

import { isDeepStrictEqual } from 'node:util'
import { type Check, checkOf, checksOf, must, type Scenario, should } from '../check.ts'
import type { Message } from '../messages.ts'
import { ExactNumber } from '../read-answer.ts'
import { Failed, NotJudged } from '../verdict.ts'
import { expectOnce } from './arrivals.ts'
import { batchStatusChecks } from './batch-statuses.ts'
import { lostAnswers } from './connections.ts'
import { expectRetried, wasGiven } from './expect-retried.ts'
import type { Lane, Trace } from './lane.ts'
import { item, outcomes, status, successful } from './replies.ts'
import type { Fields, Given, ReceivedMessage } from './request.ts'
import { singleStatusChecks } from './single-statuses.ts'

const categories = {
  scope: 'batch',
  messages: 8,
  run: async ({ target, make, play }) => {
    const two = (): readonly Message[] => [make.message(), make.message()]
    const groups = { successful: two(), failed: two(), fatal: two(), absent: two() }
    // Mixed, so that the outcome of a message cannot be found by its place.
    const records = [0, 1].flatMap((place) => Object.values(groups).map((of) => of[place] as Message))
    const given = ({ record, attempt }: ReceivedMessage): Given => {
      if (groups.failed.includes(record)) return 'failed'
      if (groups.fatal.includes(record)) return attempt <= 2 ? 'fatal' : 'successful'
      return groups.absent.includes(record) && attempt === 1 ? 'absent' : 'successful'
    }
    return { ...groups, trace: await play({ records, reply: (open) => outcomes(target, open, given) }) }
  },
} satisfies Scenario<unknown, Lane>

const categoryChecks = checksOf(categories, [
  {
    ...must('failed.skipped', '§7.2'),
    ofRun: true,
    title: 'A failed message of a batch is not sent again.',
    consequence:
      'The platform repeats messages that can never be delivered, and the operator refuses them without end.',
    remedy: 'Find each message of failed by its id, skip it, and pass it to Failed Actions.',
    judge: ({ trace, failed }) => expectOnce(trace, 'failed', failed),
  },
  {
    ...must('fatal.repeated', '§7.2'),
    title: 'A fatal message of a batch is sent again, until it has another outcome.',
    consequence: 'Messages are lost in every short disturbance of the operator.',
    remedy: 'Keep each message of fatal in the queue, and send it again after a pause.',
    judge: ({ trace, fatal }) => expectRetried(trace, wasGiven('fatal'), fatal),
  },
  {
    ...must('absent.repeated', '§7.2'),
    title: 'A message that is absent from the answer to a batch is sent again.',
    consequence: 'Messages that the operator did not process are lost.',
    remedy:
      'Go through the messages that were sent, not through the answer: a message without an item stays in the queue.',
    judge: ({ trace, absent }) => expectRetried(trace, wasGiven('absent'), absent),
  },
  {
    ...must('partial.once', '§7.2'),
    ofRun: true,
    title: 'A successful message is not sent again because others of its batch were failed, fatal or absent.',
    consequence: 'With each fatal message, hundreds of users get a message again.',
    remedy: 'Decide for each message by its id. Only a status other than 200 repeats the whole batch.',
    judge: ({ trace, successful: delivered }) => expectOnce(trace, 'successful', delivered),
  },
])

const answers = {
  scope: 'batch',
  messages: 2,
  run: async ({ target: { channel }, make, play }) => {
    const [first, second] = [make.message(), make.message()]
    const trace = await play({
      records: [first, second],
      reply: ({ messages }) => {
        const isFatal = ({ record, attempt }: ReceivedMessage): boolean => record === second && attempt === 1
        const given = (message: ReceivedMessage): Given => (isFatal(message) ? 'fatal' : 'successful')
        const items = (outcome: Given): string =>
          messages
            .filter((message) => given(message) === outcome)
            .map((message) => item(channel, message, outcome))
            .join()
        const isLater = messages.some(({ attempt }) => attempt > 1)
        const unknown = `"failed":[{"id":1,"error":"an unknown message","code":7}],"note":{"x":[]}`
        const parts = [
          ...(items('successful') === '' ? [] : [`"successful":[${items('successful')}]`]),
          ...(items('fatal') === '' ? [] : [`"fatal":[${items('fatal')}]`]),
          ...(isLater ? [unknown] : []),
        ]
        return { ...status(200, 'successful', `{${parts.join()}}`), given }
      },
    })
    return { trace, first, second }
  },
} satisfies Scenario<unknown, Lane>

const answerChecks = checksOf(answers, [
  {
    ...must('answer.optional', '§2.4'),
    ofRun: true,
    title: 'An answer to a batch may lack categories: one of the three is enough.',
    consequence: 'The platform repeats messages that were delivered, and users get them again.',
    remedy: 'Read a missing category as an empty one.',
    judge: ({ trace, first }) => expectOnce(trace, 'successful', [first]),
  },
  {
    ...should('answer.unknown', '§2.4', 10),
    ofRun: true,
    title: 'Unknown ids and unknown members of an answer change nothing.',
    consequence: 'A new member or a stray id in an answer makes the platform repeat messages that were delivered.',
    remedy: 'Ignore members and ids that you do not know.',
    judge: ({ trace, second }) => expectOnce(trace, 'successful', [second]),
  },
])

const otherLayout = {
  scope: 'batch',
  messages: 2,
  run: ({ target, make, play }) =>
    play({
      records: [make.message(), make.message()],
      reply: (open) => {
        const reply = successful(target, open)
        const spaced = reply.body?.replaceAll(/[[\]{},:]/g, '\r\n\t$& ')
        const body = spaced?.replaceAll('"id"', String.raw`"\u0069d"`) ?? ''
        return { ...reply, headers: { 'content-type': 'Application/JSON;charset="UTF-8"' }, body }
      },
    }),
} satisfies Scenario<Trace, Lane>

const layoutCheck = checkOf(otherLayout, {
  ...must('answer.layout', '§4'),
  ofRun: true,
  title: 'White space and escapes in an answer make no difference, and neither does a charset of its content type.',
  consequence: 'The platform repeats messages that were delivered, and users get them again.',
  remedy: 'Read answers with a JSON parser, not with patterns, and compare only the media type of the content type.',
  judge: (trace) => expectOnce(trace, 'successful'),
})

/** In the scenario of lost answers, each mode has a repetition. */
const repeatCheck = checkOf(lostAnswers, {
  ...should('repeat.same', '§2.1, §7.2'),
  ofRun: true,
  title: 'A repeated message has the same record as before.',
  consequence: 'The operator takes it for another message, and delivers it twice.',
  remedy:
    'Store the record as it is sent, and repeat it unchanged: id, user_id, activity_id, action_id and trigger_hash.',
  judge: ({ trace }) => {
    const first = new Map<Message, Fields>()
    let judged = 0
    for (const { label, messages } of trace.ofRun())
      for (const { record, element } of messages) {
        const before = first.get(record)
        if (before === undefined) first.set(record, element)
        else judged++
        // The order of members has no meaning.
        if (before === undefined || isDeepStrictEqual(before, element)) continue
        const text = JSON.stringify(element, (_, value) => (value instanceof ExactNumber ? value.source : value))
        throw new Failed(`${label}: message ${record.idJson} differs from its first record: ${text}`)
      }
    if (judged === 0) throw new NotJudged('no message was repeated')
  },
})

export const outcomeChecks: readonly Check<Lane>[] = [
  ...categoryChecks,
  repeatCheck,
  layoutCheck,
  ...answerChecks,
  ...batchStatusChecks,
  ...singleStatusChecks,
]
