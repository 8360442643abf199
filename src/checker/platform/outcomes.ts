// §2.4, §7.1, §7.2: the reaction of a platform to each outcome.

import { type Check, checksOf, type Scenario } from '../check.ts'
import type { Message } from '../messages.ts'
import type { Target } from '../target.ts'
import { expect, Failed, NotJudged } from '../verdict.ts'
import { expectOnce } from './arrivals.ts'
import { givenIn, type Lane, type Trace } from './lane.ts'
import { item, type Open, outcomes, status, success, successful } from './replies.ts'
import type { Given, ReceivedMessage } from './request.ts'

interface Categories {
  readonly trace: Trace
  readonly successful: readonly Message[]
  readonly failed: readonly Message[]
  readonly fatal: readonly Message[]
  readonly absent: readonly Message[]
}

const categories: Scenario<Categories, Lane> = {
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
}

/** @throws Failed if a record was not sent again after it had been given this outcome */
function expectRepeated(trace: Trace, outcome: Given, records: readonly Message[], what: string): void {
  let judged = 0
  for (const record of records) {
    const requests = trace.of(record)
    for (const [place, request] of requests.entries()) {
      if (givenIn(request, record) !== outcome) continue
      judged++
      if (place === requests.length - 1)
        throw new Failed(`${request.label}: message ${record.idJson} was ${what}, and did not come again`)
    }
  }
  if (judged === 0) throw new NotJudged(`no message was ${what}`)
}

const categoryChecks = checksOf(categories, [
  {
    id: 'failed.skipped',
    section: '§7.2',
    level: 'must',
    title: 'A failed message of a batch is not sent again.',
    consequence:
      'The platform repeats messages that can never be delivered, and the operator refuses them without end.',
    remedy: 'Find each message of failed by its id, skip it, and pass it to Failed Actions.',
    judge: ({ trace, failed }) => expectOnce(trace, 'failed', failed),
  },
  {
    id: 'fatal.repeated',
    section: '§7.2',
    level: 'must',
    title: 'A fatal message of a batch is sent again, until it has another outcome.',
    consequence: 'Messages are lost in every short disturbance of the operator.',
    remedy: 'Keep each message of fatal in the queue, and send it again after a pause.',
    judge: ({ trace, fatal }) => expectRepeated(trace, 'fatal', fatal, 'fatal'),
  },
  {
    id: 'absent.repeated',
    section: '§7.2',
    level: 'must',
    title: 'A message that is absent from the answer to a batch is sent again.',
    consequence: 'Messages that the operator did not process are lost.',
    remedy:
      'Go through the messages that were sent, not through the answer: a message without an item stays in the queue.',
    judge: ({ trace, absent }) => expectRepeated(trace, 'absent', absent, 'absent from the answer'),
  },
  {
    id: 'partial.once',
    section: '§7.2',
    level: 'must',
    title: 'A successful message is not sent again because others of its batch were failed, fatal or absent.',
    consequence: 'With each fatal message, hundreds of users get a message again.',
    remedy: 'Decide for each message by its id. Only a status other than 200 repeats the whole batch.',
    judge: ({ trace, successful: delivered }) => expectOnce(trace, 'successful', delivered),
  },
  {
    id: 'repeat.same',
    section: '§2.1, §7.2',
    level: 'should',
    title: 'A repeated message has the same record as before.',
    consequence: 'The operator takes it for another message, and delivers it twice.',
    remedy:
      'Store the record as it is sent, and repeat it unchanged: id, user_id, activity_id, action_id and trigger_hash.',
    judge: ({ trace }) => {
      for (const record of trace.records) {
        const sent = trace.of(record).map(({ label, messages }) => {
          const message = messages.find((each) => each.record === record)
          return { label, text: JSON.stringify(message?.element) }
        })
        const other = sent.find(({ text }) => text !== sent[0]?.text)
        expect(!other, `${other?.label}: message ${record.idJson} differs from its first record: ${other?.text}`)
      }
    },
  },
])

const answers: Scenario<{ readonly trace: Trace; readonly first: Message; readonly second: Message }, Lane> = {
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
}

const answerChecks = checksOf(answers, [
  {
    id: 'answer.optional',
    section: '§2.4',
    level: 'must',
    title: 'An answer to a batch may lack categories: one of the three is enough.',
    consequence: 'The platform repeats messages that were delivered, and users get them again.',
    remedy: 'Read a missing category as an empty one.',
    judge: ({ trace, first }) => expectOnce(trace, 'successful', [first]),
  },
  {
    id: 'answer.unknown',
    section: '§2.4',
    row: 10,
    level: 'should',
    title: 'Unknown ids and unknown members of an answer change nothing.',
    consequence: 'A new member or a stray id in an answer makes the platform repeat messages that were delivered.',
    remedy: 'Ignore members and ids that you do not know.',
    judge: ({ trace, second }) => expectOnce(trace, 'successful', [second]),
  },
])

interface Statuses {
  readonly trace: Trace
  readonly records: readonly Message[]
}

/** §7.2 rule 1: a batch that is first answered like this. Each answer has records of its own, so that no fault hides another. */
function batchAnswered(
  code: number,
  bodyOf: (target: Target, open: Open) => string | undefined,
): Scenario<Statuses, Lane> {
  return {
    scope: 'batch',
    messages: 3,
    run: async ({ target, make, play }) => {
      const records = [make.message(), make.message(), make.message()]
      const trace = await play({
        records,
        reply: (open) =>
          open.messages.some(({ attempt }) => attempt === 1)
            ? status(code, 'retry', bodyOf(target, open))
            : successful(target, open),
      })
      return { trace, records }
    },
  }
}

/** @throws Failed if a message was not sent again after a request with this status */
function expectRetried({ trace, records }: Statuses, of: (code: number, body: string) => boolean): void {
  let judged = 0
  for (const record of records) {
    const requests = trace.of(record)
    for (const [place, { label, reply }] of requests.entries()) {
      if (reply.status === undefined || !of(reply.status, reply.body ?? '')) continue
      judged++
      if (place === requests.length - 1)
        throw new Failed(`${label}: answered ${reply.status}, and message ${record.idJson} did not come again`)
    }
  }
  if (judged === 0) throw new NotJudged('the platform stopped before this answer')
}

const retryRemedy =
  'Keep all messages of the batch in the queue, and send them again after a pause, for every status but 200.'

const batchStatusChecks: readonly Check<Lane>[] = [
  ...checksOf(
    batchAnswered(500, () => undefined),
    [
      {
        id: 'batch.5xx',
        section: '§7.2',
        level: 'must',
        title: 'A batch that is answered with a status from 500 to 599 is sent again, with all its messages.',
        consequence: 'Every disturbance of the operator loses a batch of messages.',
        remedy: retryRemedy,
        judge: (seen) => expectRetried(seen, (code) => code >= 500),
      },
    ],
  ),
  ...checksOf(
    batchAnswered(400, () => undefined),
    [
      {
        id: 'batch.4xx',
        section: '§7.2',
        level: 'must',
        title: 'A batch that is answered with a status from 400 to 499 is sent again, with all its messages.',
        consequence: 'A wrong key, or one message that the operator cannot read, loses hundreds of others.',
        remedy: `${retryRemedy} Only single messages are skipped after 4xx.`,
        judge: (seen) => expectRetried(seen, (code) => code >= 400 && code < 500),
      },
    ],
  ),
  // The answer has the outcomes of a success.
  ...checksOf(
    batchAnswered(202, (target, open) => successful(target, open).body),
    [
      {
        id: 'batch.2xx',
        section: '§7.2',
        level: 'must',
        title: 'A batch that is answered with another 2xx than 200 is sent again, with all its messages.',
        consequence: 'A 202 of a proxy that only accepted the batch counts as delivered: the batch is lost.',
        remedy: 'Compare the status with 200, not with the range from 200 to 299.',
        judge: (seen) => expectRetried(seen, (code) => code > 200 && code < 300),
      },
    ],
  ),
  ...checksOf(
    batchAnswered(200, () => 'OK'),
    [
      {
        id: 'batch.unreadable',
        section: '§2.4, §7.2',
        row: 48,
        level: 'should',
        title: 'A batch that is answered 200 without a batch response record is sent again.',
        consequence: 'The page of a proxy counts as an answer, and the whole batch is lost.',
        remedy: 'Treat a body that you cannot read as an answer from which all messages are absent.',
        judge: (seen) => expectRetried(seen, (code, body) => code === 200 && body === 'OK'),
      },
    ],
  ),
]

const good = [200, 201, 204, 299]
const refused = [400, 410, 422, 429]
const retried = [500, 503, 302]

interface Singles {
  readonly trace: Trace
  readonly byStatus: ReadonlyMap<number, Message>
  readonly repeated: Message
}

const singleStatuses: Scenario<Singles, Lane> = {
  scope: 'single',
  messages: good.length + refused.length + 1,
  run: async ({ target: { channel }, make, play }) => {
    const byStatus = new Map([...good, ...refused].map((code) => [code, make.message()]))
    const repeated = make.message()
    const codeOf = ({ record, attempt }: ReceivedMessage): number => {
      if (record === repeated) return retried[attempt - 1] ?? 200
      return [...byStatus].find(([, each]) => each === record)?.[0] ?? 200
    }
    const trace = await play({
      records: [...byStatus.values(), repeated],
      reply: ({ messages: [message] }) => {
        if (!message) return status(400, 'retry')
        const code = codeOf(message)
        if (code === 204) return status(204, 'successful', '')
        if (code < 300) return status(code, 'successful', success(channel, message))
        if (code >= 400 && code < 500) return status(code, 'failed')
        return status(code, 'retry', undefined, code === 302 ? { location: '/elsewhere' } : {})
      },
    })
    return { trace, byStatus, repeated }
  },
}

const recordsOf = ({ byStatus }: Singles, codes: readonly number[]): readonly Message[] =>
  codes.flatMap((code) => byStatus.get(code) ?? [])

const singleStatusChecks = checksOf(singleStatuses, [
  {
    id: 'single.2xx',
    section: '§4.1, §7.1',
    level: 'must',
    title: 'A single message that is answered with a status from 200 to 299 is not sent again.',
    consequence: 'The user gets the message again and again.',
    remedy: 'Count every status from 200 to 299 as delivered, also without a body.',
    judge: (seen) => expectOnce(seen.trace, 'successful', recordsOf(seen, good)),
  },
  {
    id: 'single.4xx',
    section: '§7.1',
    level: 'must',
    title: 'A single message that is answered with a status from 400 to 499 is not sent again.',
    consequence: 'The platform repeats messages that can never be delivered, and later messages wait behind them.',
    remedy: 'Skip the message, and pass it to Failed Actions.',
    judge: (seen) => expectOnce(seen.trace, 'failed', recordsOf(seen, refused)),
  },
  {
    id: 'single.repeated',
    section: '§7.1',
    level: 'must',
    title:
      'A single message is sent again after 500 and any other status that is neither 2xx nor 4xx, until it succeeds.',
    consequence: 'Messages are lost in every short disturbance of the operator.',
    remedy: 'Keep the message in the queue, and send it again after a pause. Do not follow redirects.',
    judge: ({ trace, repeated }) => expectRetried({ trace, records: [repeated] }, (code) => retried.includes(code)),
  },
])

export const outcomeChecks: readonly Check<Lane>[] = [
  ...categoryChecks,
  ...answerChecks,
  ...batchStatusChecks,
  ...singleStatusChecks,
]
