// §2.1, §4.1, §5.1, §8.2: the requests of a platform while every message is successful.

import { isDeepStrictEqual } from 'node:util'
import { type Check, checksOf, must, type Scenario, should } from '../check.ts'
import type { Message } from '../messages.ts'
import { ExactNumber, idJsonOf, parseExact } from '../read-answer.ts'
import { excerpt, expect, Failed, NotJudged } from '../verdict.ts'
import { givenIn, type Lane, type Trace } from './lane.ts'
import { successful } from './replies.ts'
import { activityOf, type Fields, isObject, type PlatformRequest, type ReceivedMessage } from './request.ts'

export const arrivesCheck = 'request.arrives'
export const keyCheck = 'request.key'

const few = 12
/** Long enough that a copy of a request that is sent at the same time arrives before the answer. */
const delayMs = 100
/** More than two batches, so that the last one is not full. */
const recordsFor = (batchMax: number, isAgreed: boolean): number => (isAgreed ? 2 * batchMax + 3 : few)

const ordinary: Scenario<Trace, Lane> = {
  scope: 'send',
  messages: ({ batchMax, batchMaxAgreed }) => recordsFor(batchMax, batchMaxAgreed),
  run: ({ facts, target, make, play }) => {
    const special = [
      make.message({ idJson: make.nextLargeId() }),
      make.message({ beside: { title: 'Žluťoučký kůň 馬 🐎', nested: { list: [1, 'two', null, true], empty: {} } } }),
    ]
    const most = target.mode === 'single' ? few : recordsFor(facts.batchMax, facts.batchMaxAgreed)
    const others = Array.from({ length: most - special.length }, () => make.message())
    return play({ records: [...special, ...others], reply: (open) => ({ ...successful(target, open), delayMs }) })
  },
}

const each = (trace: Trace, judge: (message: ReceivedMessage, request: PlatformRequest) => void): void => {
  for (const request of trace.ofRun()) for (const message of request.messages) judge(message, request)
}

const members = ['brand_id', 'user_id', 'activity_id', 'action_group_id', 'trigger_hash', 'action_id'] as const

export const arrivalChecks: readonly Check<Lane>[] = checksOf(ordinary, [
  {
    ...must(arrivesCheck, '§4.1'),
    ofRun: true,
    title: 'The platform sends its messages to the endpoint of their channel and mode, with POST.',
    consequence: 'The operator never sees the messages.',
    remedy:
      'Send POST to {base_url} with the path of §4.1: /channels/push/single, /channels/push/batch, /channels/site/…',
    judge: ({ ofRun }) => {
      for (const { label, method } of ofRun()) expect(method === 'POST', `${label}: ${method}`)
    },
  },
  {
    ...must(keyCheck, '§5.1'),
    ofRun: true,
    title: 'Every request has the API key of the operator in the header X-Api-Key.',
    consequence: 'The operator refuses the request: single messages are dropped, and batches are repeated without end.',
    remedy: 'Send the key that the operator issued in the header X-Api-Key, unchanged, with every request.',
    judge: ({ ofRun }) => {
      for (const { label, key } of ofRun())
        expect(key === 'right', `${label}: ${key === 'none' ? 'no header X-Api-Key' : 'another API key'}`)
    },
  },
  {
    ...must('request.json', '§4, §4.1'),
    ofRun: true,
    title: 'A body is JSON: one record for a single message, an array of records for a batch.',
    consequence: 'The operator refuses the body: the messages are dropped or repeated without end.',
    remedy: 'Send {"activity": {…}, …} to …/single, and [{"activity": {…}, …}] to …/batch.',
    judge: ({ ofRun }, { target: { mode } }) => {
      for (const { label, value, body } of ofRun()) {
        expect(value !== undefined, `${label}: the body is not JSON: ${body.slice(0, 100)}`)
        const elements = mode === 'batch' && Array.isArray(value) ? value : [value]
        const isRecord = (element: unknown): boolean => isObject(element) && isObject(element.activity)
        const isRight = mode === 'single' || Array.isArray(value)
        expect(isRight && elements.every(isRecord), `${label}: ${body.slice(0, 100)}`)
      }
    },
  },
  {
    ...should('request.content-type', '§4'),
    ofRun: true,
    title: 'Every request has the content type application/json.',
    consequence: 'Many servers do not parse the body, and refuse it with 400 or 415: single messages are dropped.',
    remedy: 'Send Content-Type: application/json.',
    judge: ({ ofRun }) => {
      for (const { label, headers } of ofRun()) {
        const type = headers['content-type'] ?? 'none'
        expect(/^application\/json *(;|$)/i.test(type), `${label}: content type ${type}`)
      }
    },
  },
  {
    ...must('record.id', '§2.1'),
    ofRun: true,
    title: 'activity.id is the integer of the record, digit by digit.',
    consequence:
      'Operator and platform mean different messages: outcomes and statuses are lost or belong to another message.',
    remedy: 'Keep ids above 2^53 exact: as 64-bit integers or as source text, not as floating-point numbers or texts.',
    judge: (trace) =>
      each(trace, ({ record, idJson }, { label }) =>
        expect(idJson === record.idJson, `${label}: activity.id is ${idJson}, the record has ${record.idJson}`),
      ),
  },
  {
    ...must('record.members', '§2.1'),
    ofRun: true,
    title: 'The other members of activity have the type and the value of the record.',
    consequence:
      'The operator refuses the message, or delivers it to another user, or stores conversions under another activity.',
    remedy:
      'Send brand_id, activity_id, action_group_id and action_id as integers, user_id and trigger_hash as texts, all unchanged.',
    judge: (trace) =>
      each(trace, ({ record, element }, { label }) => {
        const sent = activityOf(element)
        const expected = activityOf(parseExact(record.text) as Fields)
        for (const name of members) {
          const seen = name in sent ? idJsonOf(sent[name]) : 'missing'
          expect(
            seen === idJsonOf(expected[name]),
            `${label}: activity.${name} is ${seen}, the record has ${idJsonOf(expected[name])}`,
          )
        }
      }),
  },
  {
    ...should('record.content', '§2.1'),
    ofRun: true,
    title: 'The members beside activity arrive as they were enqueued.',
    consequence: 'The user sees damaged text, or the push has no target.',
    remedy: 'Send content and target unchanged, as UTF-8, beside activity.',
    judge: (trace) =>
      each(trace, ({ record, element }, { label }) => {
        const { activity: _, ...expected } = parseExact(record.text) as Fields
        for (const [name, value] of Object.entries(expected))
          expect(
            isSame(element[name], value),
            `${label}: ${name} is ${shown(element[name])}, the record has ${shown(value)}`,
          )
      }),
  },
  {
    ...must('request.all', '§7.1, §7.2'),
    title: 'Every record that was enqueued is sent.',
    consequence: 'Messages are lost without a trace.',
    remedy:
      'Acknowledge a record to its source only when it is stored. Look for records that are refused, filtered or overtaken.',
    judge: (trace) => {
      const missing = trace.records.filter((record) => trace.of(record).length === 0)
      expect(
        missing.length === 0,
        `${missing.length} of ${trace.records.length} records never arrived, the first is ${missing[0]?.idJson}`,
      )
    },
  },
  {
    ...must('success.once', '§7.1, §7.2'),
    ofRun: true,
    title: 'A successful message is not sent again.',
    consequence: 'The operator must recognize it, or the user gets it again and again.',
    remedy: 'Store the outcome of each message before the next request, and acknowledge it.',
    judge: (trace) => expectOnce(trace, 'successful'),
  },
  {
    ...should('request.in-flight', '§7.1, §7.2'),
    ofRun: true,
    title: 'A message is not sent twice at the same time.',
    consequence: 'The operator delivers the message twice, unless it recognizes messages that it is delivering.',
    remedy: 'Let one worker own a message until its request has ended: a lock or a lease for each message or lane.',
    judge: (trace) => {
      for (const record of trace.records) {
        const requests = trace.of(record)
        for (const [place, { label, at }] of requests.entries()) {
          const open = requests.slice(0, place).find(({ endedAt }) => endedAt === undefined || endedAt > at)
          expect(!open, `${label}: message ${record.idJson} was sent while ${open?.label} had no answer`)
        }
      }
    },
  },
])

/** @throws Failed if a record came again after it had been given this final outcome */
export function expectOnce(trace: Trace, outcome: 'successful' | 'failed', records = trace.records): void {
  let judged = 0
  for (const record of records) {
    const requests = trace.of(record)
    // The outcome of a message is of no use to a platform that changed its id.
    if (requests.some((request) => sentId(request, record) !== record.idJson)) continue
    const end = requests.find((request) => givenIn(request, record) === outcome)
    if (!end) continue
    judged++
    const { endedAt = 0, label } = end
    const again = requests.find(({ at }) => at > endedAt)
    if (again) throw new Failed(`${again.label}: message ${record.idJson} was ${outcome} in ${label}, and came again`)
  }
  if (judged === 0) throw new NotJudged(`no message was ${outcome}`)
}

const sentId = ({ messages }: PlatformRequest, of: Message): string | undefined =>
  messages.find(({ record }) => record === of)?.idJson

const isSame = (sent: unknown, expected: unknown): boolean => isDeepStrictEqual(sent, expected)

function shown(value: unknown): string {
  return excerpt(value instanceof ExactNumber ? value.source : (JSON.stringify(value) ?? 'missing'), 80)
}
