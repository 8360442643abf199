// §2.2, §2.4, §4: the shapes of the answers to messages that are delivered.

import { identifierOf } from '../../../contract/endpoints.ts'
import { type Check, checksOf, decision, type JudgeContext, must, should } from '../check.ts'
import type { Answer, Exchange } from '../exchange.ts'
import type { Message } from '../messages.ts'
import {
  categories,
  delivered,
  deliveredItem,
  identifierIn,
  identifierOfItem,
  identifierOfSingle,
  isSuccess,
  itemsIn,
  itemsOf,
  objectOf,
  processed,
} from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { answerOf, briefAnswer, expect, NotJudged, shownAnswer } from '../verdict.ts'

export function expectJsonObject(answer: Answer): void {
  expect(objectOf(answer) !== undefined, `The body is not a JSON object: ${shownAnswer(answer)}`)
}

export function expectContentType({ headers }: Answer): void {
  const type = headers['content-type']
  expect(
    /^application\/json\s*(;|$)/i.test(type ?? ''),
    type === undefined ? 'No Content-Type.' : `Content-Type: ${type}`,
  )
}

const twoSingles = {
  scope: 'single',
  messages: 2,
  run: async (sender: Sender) => ({
    first: await sender.single('a message', sender.make.message()),
    second: await sender.single('another message', sender.make.message()),
  }),
} as const

const singleChecks = checksOf(twoSingles, [
  {
    ...must('single.status', '§4.1, §7.1'),
    title: 'A delivered message is answered with a status from 200 to 299.',
    consequence:
      'A redirect or any other status below 200 or from 300 to 399 is no success: the platform repeats the message without end.',
    remedy: 'Answer 200 when the message is delivered. Do not redirect.',
    judge: ({ first, second }) => {
      for (const exchange of [first, second]) {
        const answer = answerOf(exchange)
        expect(answer.status >= 200 && (answer.status < 300 || answer.status > 399), shownAnswer(answer))
        delivered(exchange)
      }
    },
  },
  {
    ...must('single.json', '§4'),
    title: 'The answer to a delivered message is a JSON object.',
    consequence: 'The platform cannot read the identifier: the message is delivered, but its status is never updated.',
    remedy: 'Answer a JSON object, such as {"push_id": "…"}, also behind proxies and error pages.',
    judge: ({ first, second }) => {
      for (const exchange of [first, second]) expectJsonObject(delivered(exchange))
    },
  },
  {
    ...must('single.identifier', '§2.2'),
    title: 'The answer to a delivered message has its identifier: push_id for push, site_notification_id for on-site.',
    consequence: 'The platform cannot update the status of the message, and its conversions are lost.',
    remedy: 'Generate an identifier for the message and return it in this member, as a text.',
    judge: ({ first, second }, { target: { channel } }) => {
      for (const exchange of [first, second]) {
        const answer = delivered(exchange)
        const fields = objectOf(answer)
        if (!fields) throw new NotJudged('the body is not a JSON object (single.json)')
        expect(identifierIn(fields, channel) !== undefined, `No ${identifierOf[channel]}: ${shownAnswer(answer)}`)
      }
    },
  },
  {
    ...must('single.identifier-unique', '§2.2'),
    title: 'Two messages have two identifiers.',
    consequence: 'The status of one message is stored for another.',
    remedy: 'Generate a new identifier for each message, such as a UUID.',
    judge: ({ first, second }, { target: { channel } }) => {
      const identifier = identifierOfSingle(first, channel)
      expect(identifier !== identifierOfSingle(second, channel), `Both messages have ${identifier}.`)
    },
  },
  {
    ...decision('single.identifier-form', '§2.2', 47),
    title: 'The identifier is a text of 1 to 255 characters without U+0000, or an integer up to 2^53.',
    consequence: 'Bellwire’s platform ignores any other identifier, and shows the message as untracked.',
    remedy: 'Return a short text, such as a UUID.',
    judge: ({ first }, { target: { channel } }) => {
      const json = identifierOfSingle(first, channel)
      const text = json.startsWith('"') ? (JSON.parse(json) as string) : undefined
      const fits = text === undefined ? Number.isSafeInteger(Number(json)) : text.length <= 255 && !text.includes('\0')
      expect(fits, `The identifier is ${json.slice(0, 80)}${json.length > 80 ? '…' : ''} (${json.length} characters).`)
    },
  },
  {
    ...should('single.content-type', '§4'),
    title: 'The answer to a message has the content type application/json.',
    consequence: 'HTTP clients that choose a parser by the content type do not read the identifier.',
    remedy: 'Send Content-Type: application/json with every answer.',
    judge: ({ first, second }) => {
      for (const exchange of [first, second]) expectContentType(delivered(exchange))
    },
  },
])

/** @throws Failed if the batch was refused. Another success than 200 is judged by batch.status alone */
export function expectProcessed(exchange: Exchange): void {
  const answer = answerOf(exchange)
  expect(isSuccess(answer), shownAnswer(answer))
}

interface Batch {
  readonly messages: readonly Message[]
  readonly answered: Exchange
}

/** A batch of healthy messages. */
const goodBatch = {
  scope: 'batch',
  messages: 5,
  run: async (sender: Sender): Promise<Batch> => {
    const messages = Array.from({ length: Math.min(5, sender.facts.batchMax) }, () => sender.make.message())
    return { messages, answered: await sender.batch(`a batch of ${messages.length} messages`, messages) }
  },
} as const

function recordIn(batch: Batch): Readonly<Record<string, unknown>> {
  const fields = objectOf(processed(batch.answered))
  if (fields) return fields
  throw new NotJudged('the body is not a JSON object (batch.json)')
}

const batchChecks = checksOf(goodBatch, [
  {
    ...must('batch.status', '§7.2'),
    title: 'A batch whose messages were processed is answered with status 200.',
    consequence:
      'Only 200 counts: with 201, 202 or 207 the platform repeats the whole batch, and users get each message again.',
    remedy: 'Answer 200 when all messages have an outcome, and report each outcome in the body.',
    judge: ({ answered }) => {
      const answer = answerOf(answered)
      if (answer.status >= 400) throw new NotJudged(`not processed (${briefAnswer(answer)})`, true)
      expect(answer.status === 200, shownAnswer(answer))
    },
  },
  {
    ...must('batch.json', '§4'),
    title: 'The answer to a batch is a JSON object.',
    consequence: 'The platform reads no outcome: all messages count as absent, and are repeated.',
    remedy: 'Answer {"successful": […], "failed": […], "fatal": […]}.',
    judge: ({ answered }) => expectJsonObject(processed(answered)),
  },
  {
    ...must('batch.categories', '§2.4'),
    title: 'The answer to a batch has at least one of successful, failed and fatal, and each of them is an array.',
    consequence: 'The platform reads no outcome for the messages, and repeats them.',
    remedy: 'Answer {"successful": […], "failed": […], "fatal": […]}, with an empty array for an empty category.',
    judge: (batch) => {
      const fields = recordIn(batch)
      const present = categories.filter((category) => category in fields)
      expect(present.length > 0, `The members are ${Object.keys(fields).join(', ') || 'none'}.`)
      const wrong = present.find((category) => !Array.isArray(fields[category]))
      expect(wrong === undefined, `${wrong} is ${JSON.stringify(fields[wrong ?? ''])?.slice(0, 80)}, not an array.`)
    },
  },
  {
    ...should('batch.empty-categories', '§2.4'),
    title: 'A category without messages is returned as an empty array.',
    consequence: 'A platform that reads all three categories fails on the answer, and repeats the whole batch.',
    remedy: 'Always return all three members: "failed": [] if no message failed.',
    judge: (batch) => {
      const fields = recordIn(batch)
      if (!categories.some((category) => category in fields))
        throw new NotJudged('no category is present (batch.categories)')
      const missing = categories.filter((category) => !(category in fields))
      expect(missing.length === 0, `The answer has no ${missing.join(' and no ')}.`)
    },
  },
  {
    ...must('batch.id', '§2.4, §4.1'),
    title: 'Each item of the answer has the activity.id of its message as id, with the same JSON type.',
    consequence: 'A platform that compares ids exactly finds none of its messages, and repeats them all.',
    remedy: 'Return the value of activity.id unchanged: a number as a number, a text as a text.',
    judge: ({ answered, messages }, { target: { channel } }) => {
      const items = itemsIn(answered, channel)
      const without = items.find(({ idJson }) => idJson === undefined)
      expect(!without, `An item without id: ${without?.shown}`)
      for (const message of messages)
        for (const { idJson, shown } of itemsOf(items, message))
          expect(idJson === message.idJson, `The id ${message.idJson} came back as ${idJson}: ${shown}`)
    },
  },
  {
    ...must('batch.identifier', '§2.4'),
    title: 'Each successful item has its identifier: push_id for push, site_notification_id for on-site.',
    consequence: 'The platform cannot update the status of these messages, and their conversions are lost.',
    remedy: 'Return the identifier of each message in its item of successful.',
    judge: ({ answered, messages }, { target: { channel } }) => {
      for (const message of messages) {
        const item = deliveredItem(answered, message, channel)
        expect(item.identifier !== undefined, `No ${identifierOf[channel]} in ${item.shown}`)
      }
    },
  },
  {
    ...must('batch.identifier-unique', '§2.4'),
    title: 'The messages of a batch have different identifiers.',
    consequence: 'The status of one message is stored for another.',
    remedy: 'Generate an identifier for each message, not for the batch.',
    judge: ({ answered, messages }, { target: { channel } }) => {
      const identifiers = messages.map((message) => identifierOfItem(answered, message, channel))
      const repeated = identifiers.find((identifier, at) => identifiers.indexOf(identifier) !== at)
      expect(repeated === undefined, `Several messages have ${repeated}.`)
    },
  },
  {
    ...should('batch.content-type', '§4'),
    title: 'The answer to a batch has the content type application/json.',
    consequence: 'HTTP clients that choose a parser by the content type read no outcome, and repeat the batch.',
    remedy: 'Send Content-Type: application/json with every answer.',
    judge: ({ answered }) => expectContentType(processed(answered)),
  },
  {
    ...must('absence.none', '§4.1, §7.2'),
    title: 'Every message of a batch is in the answer.',
    consequence: 'A message that is absent is repeated, and again, until it is reported: users get it many times.',
    remedy: 'Report each message, in the worst case as fatal.',
    judge: ({ answered, messages }, { target: { channel } }) => {
      const items = itemsIn(answered, channel)
      const absent = messages.filter((message) => itemsOf(items, message).length === 0)
      expect(absent.length === 0, `Absent: ${absent.map(({ idJson }) => idJson).join(', ')}`)
    },
  },
  {
    ...must('absence.once', '§7.2'),
    title: 'Each message is in one category of the answer, once.',
    consequence: 'The platform must choose: a delivered message is repeated, or a retryable one is dropped.',
    remedy: 'Give each message one outcome.',
    judge: ({ answered, messages }, { target: { channel } }) => {
      const items = itemsIn(answered, channel)
      for (const message of messages) {
        const found = itemsOf(items, message)
        expect(found.length <= 1, `${message.idJson} is in ${found.map(({ category }) => category).join(' and ')}.`)
      }
    },
  },
  {
    ...must('absence.foreign', '§2.4', 10),
    title: 'The answer contains only messages of the request.',
    consequence:
      'The outcome of one batch is mixed with that of another, so a message of the other batch may be dropped.',
    remedy: 'Collect the outcomes of each request apart from those of other requests.',
    judge: ({ answered, messages }, { target: { channel } }) => {
      const items = itemsIn(answered, channel)
      const known = new Set(messages.flatMap((message) => itemsOf(items, message)))
      const foreign = items.find((item) => item.idJson !== undefined && !known.has(item))
      expect(!foreign, `An id that was not sent, in ${foreign?.category}: ${foreign?.shown}`)
    },
  },
])

const oneMessage = {
  scope: 'batch',
  messages: 3,
  run: async (sender: Sender) => {
    const others = [sender.make.message(), sender.make.message()]
    const message = sender.make.message()
    const ordinary = await sender.batch('an ordinary batch', others)
    return { others, ordinary, message, answered: await sender.batch('a batch of one message', [message]) }
  },
} as const

const oneMessageChecks = checksOf(oneMessage, [
  {
    ...must('batch.one', '§4.1'),
    title: 'A batch with one message is processed like any other.',
    consequence: 'A batch is sent after a time span even if it is not full. It would be repeated without end.',
    remedy: 'Accept an array with any number of messages from 1 to the agreed maximum.',
    judge: ({ ordinary, answered, message }, { target: { channel } }: JudgeContext) => {
      processed(ordinary)
      expectProcessed(answered)
      deliveredItem(answered, message, channel)
    },
  },
  {
    ...must('batch.identifier-new', '§2.4'),
    title: 'The messages of two batches have different identifiers.',
    consequence: 'The status of one message is stored for another.',
    remedy: 'Generate identifiers that are unique among all messages, such as UUIDs. Do not count within a batch.',
    judge: ({ others, ordinary, answered, message }, { target: { channel } }) => {
      const identifier = identifierOfItem(answered, message, channel)
      const earlier = others.map((other) => identifierOfItem(ordinary, other, channel))
      expect(!earlier.includes(identifier), `Messages of two batches have ${identifier}.`)
    },
  },
])

export const shapeChecks: readonly Check[] = [...singleChecks, ...batchChecks, ...oneMessageChecks]
