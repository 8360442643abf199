// §8: sizes up to the agreed maximum.

import { identifierOf } from '../../../contract/endpoints.ts'
import { type Check, checkOf, decision, must, type Scenario, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { Message } from '../messages.ts'
import { delivered, identifierOfItem, itemsIn, itemsOf, processed, singleOutcome, valueOfId } from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { answerOf, briefAnswer, expect, NotJudged, shownAnswer } from '../verdict.ts'
import { expectProcessed } from './shapes.ts'
import { compare } from './special-message.ts'

const longMessage = compare(({ single, make }) =>
  single('a message of 64 KiB', make.message({ beside: { bellwire_check: 'x'.repeat(64 * 1024) } })),
)

interface LargeBatch {
  /** The messages of the ordinary batch. */
  readonly others: readonly Message[]
  readonly ordinary: Exchange
  readonly messages: readonly Message[]
  readonly answered: Exchange
}

async function sendBatchOf(sender: Sender, size: number): Promise<LargeBatch> {
  const messages = Array.from({ length: size }, () => sender.make.message())
  const others = [sender.make.message(), sender.make.message()]
  const ordinary = await sender.batch('an ordinary batch', others)
  return { others, ordinary, messages, answered: await sender.batch(`a batch of ${size} messages`, messages) }
}

const fullBatch: Scenario<LargeBatch> = {
  scope: 'batch',
  messages: ({ batchMax }) => batchMax + 2,
  run: (sender) => sendBatchOf(sender, sender.facts.batchMax),
}

const overfullBatch: Scenario<LargeBatch> = {
  scope: 'batch',
  needs: ['batch maximum'],
  messages: ({ batchMax }) => batchMax + 3,
  run: (sender) => sendBatchOf(sender, sender.facts.batchMax + 1),
}

export const sizeChecks: readonly Check[] = [
  checkOf(longMessage, {
    ...should('size.message', '§7.1, §8'),
    title: 'A message of 64 KiB is delivered or refused, but not answered with an error that is retried.',
    consequence: 'The platform repeats a message that is too long without end.',
    remedy: 'Answer 413 or 422 with an error record if the message is too long for you, or for your push provider.',
    judge: ({ ordinary, special }) => {
      delivered(ordinary)
      const answer = answerOf(special)
      expect(singleOutcome(answer) !== 'fatal', shownAnswer(answer))
    },
  }),
  checkOf(fullBatch, {
    ...must('size.batch', '§1.6, §8.2'),
    title: 'A batch of the agreed maximum (without one: of 100 messages) is answered 200 in time, with each message.',
    consequence: 'A full batch is repeated without end: the queue never advances when there is much to send.',
    remedy:
      'Raise the limits of body size and time of your server and proxy, or agree a smaller maximum with the platform.',
    judge: ({ ordinary, messages, answered }, { target: { channel }, facts }) => {
      processed(ordinary)
      const refused = answerOf(answered)
      if (refused.status >= 400 && !facts.batchMaxAgreed)
        throw new NotJudged(`no batch maximum is agreed (${briefAnswer(refused)}): name it with --batch-max`)
      expectProcessed(answered)
      const items = itemsIn(answered, channel)
      const reported = new Set(items.map(({ idJson = '' }) => valueOfId(idJson)))
      const absent = messages.filter(({ idJson }) => !reported.has(idJson))
      expect(absent.length === 0, `${absent.length} of ${messages.length} messages are absent from the answer.`)
    },
  }),
  checkOf(fullBatch, {
    ...must('size.identifiers', '§2.4'),
    title: 'Each successful message of a batch of the agreed maximum has an identifier of its own.',
    consequence: 'The platform cannot update the status of these messages, or stores it for others.',
    remedy: 'Generate and return an identifier for every message, also if you process a batch in parts.',
    judge: ({ others, ordinary, answered }, { target: { channel } }) => {
      const usual = new Set(others.map((message) => identifierOfItem(ordinary, message, channel)))
      if (usual.size < others.length)
        throw new NotJudged('identifiers are repeated in a batch (batch.identifier-unique)')
      const seen = new Set<string>()
      for (const { category, identifier, shown } of itemsIn(answered, channel)) {
        if (category !== 'successful') continue
        expect(identifier !== undefined, `No ${identifierOf[channel]} in ${shown}`)
        expect(!seen.has(identifier), `Several messages have ${identifier}.`)
        seen.add(identifier)
      }
      if (seen.size === 0) throw new NotJudged(`${answered.label}: no message is successful`, true)
    },
  }),
  checkOf(overfullBatch, {
    ...decision('size.over', '§8.2', 26),
    title: 'A batch with one message more than the agreed maximum is answered 200, with the excess in fatal.',
    consequence: 'With any other status the platform repeats the oversized batch without end.',
    remedy: 'Process the first messages up to the maximum, and report the others as fatal.',
    judge: ({ ordinary, messages, answered }, { target: { channel } }) => {
      processed(ordinary)
      expectProcessed(answered)
      const [last] = messages.slice(-1)
      const found = last ? itemsOf(itemsIn(answered, channel), last) : []
      const categories = found.map(({ category }) => category).join(' and ')
      expect(categories === 'fatal', `The last message is ${categories || 'absent'}.`)
    },
  }),
]
