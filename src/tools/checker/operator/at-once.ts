// §7.1, §7.2: a message that comes again while it is being delivered.

import { type Check, checkOf, type Scenario, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { Message } from '../messages.ts'
import {
  categoryOf,
  deliveredItem,
  identifierIn,
  identifierOfItem,
  identifierOfNext,
  identifierOfSingle,
  objectOf,
  singleOutcome,
} from '../read-answer.ts'
import { attemptsIn } from '../sender.ts'
import { answerOf, expect, expectAnswer, shownAnswer } from '../verdict.ts'
import { expectSameIdentifier } from './duplicates.ts'

const singlesAtOnce = {
  scope: 'single',
  messages: (facts) => 3 + attemptsIn(facts),
  run: async (sender) => {
    const message = sender.make.message()
    return {
      ordinary: await sender.single('an ordinary message', sender.make.message()),
      both: await Promise.all([
        sender.single('a message', message),
        sender.single('the same message at the same time', message),
      ]),
      afterwards: await sender.singleUntilFinal('the same message afterwards', message),
    }
  },
} satisfies Scenario<unknown>

const batchesAtOnce = {
  scope: 'batch',
  messages: (facts) => 4 + 2 * attemptsIn(facts),
  run: async (sender) => {
    const messages = [sender.make.message(), sender.make.message()]
    return {
      messages,
      both: await Promise.all([
        sender.batch('a batch', messages),
        sender.batch('the same batch at the same time', messages),
      ]),
      afterwards: await sender.batchUntilFinal('the same batch afterwards', messages),
    }
  },
} satisfies Scenario<unknown>

interface InFlight {
  readonly message: Message
  /** Another message of the batch. */
  readonly other: Message
  readonly first: Exchange
  readonly second: Exchange
  readonly afterwards: Exchange
}

const inFlight: Scenario<InFlight> = {
  scope: 'modes',
  messages: (facts) => 3 + attemptsIn(facts),
  run: async (sender) => {
    const [message, other] = [sender.make.message(), sender.make.message()]
    const sent = sender.batch('a batch', [message, other])
    await sender.pause(sender.facts.pace.giveUp)
    const second = await sender.single('one of its messages, while the batch may be in flight', message)
    return {
      message,
      other,
      first: await sent,
      second,
      afterwards: await sender.singleUntilFinal('the same message afterwards', message),
    }
  },
}

/** The identifiers in the answers that say "delivered". */
function identifiersOf(exchanges: readonly Exchange[], channel: 'push' | 'site'): readonly string[] {
  return exchanges.flatMap(({ answer }) => {
    if (!answer || singleOutcome(answer) !== 'successful') return []
    return identifierIn(objectOf(answer), channel) ?? []
  })
}

function expectOneIdentifier(identifiers: readonly string[]): void {
  const different = [...new Set(identifiers)]
  expect(different.length <= 1, `The message has ${different.length} identifiers: ${different.join(', ')}`)
}

const twice = 'The user gets the message twice: the platform repeats a message whose answer is late.'

export const atOnceChecks: readonly Check[] = [
  checkOf(singlesAtOnce, {
    ...should('time.at-once', '§7.1', 29),
    title: 'A message that is sent twice at the same time gets one identifier, and neither answer is a refusal.',
    consequence: `${twice} An answer such as 409 puts a delivered message into Failed Actions.`,
    remedy:
      'Claim the message before you deliver it (insert with a unique key). Let the second request wait for the first, or answer 503.',
    judge: ({ ordinary, both, afterwards }, { target: { channel } }) => {
      identifierOfSingle(ordinary, channel)
      for (const exchange of both) expectAnswer(exchange, (answer) => singleOutcome(answer) !== 'failed')
      const last = answerOf(afterwards)
      expect(singleOutcome(last) === 'successful', `Afterwards: ${shownAnswer(last)}`)
      expectOneIdentifier(identifiersOf([...both, afterwards], channel))
    },
  }),
  checkOf(batchesAtOnce, {
    ...should('time.batch-at-once', '§7.2', 29),
    title: 'A batch that is sent twice at the same time gives each message one identifier, and fails none.',
    consequence: `${twice} A message that is failed as a duplicate is listed in Failed Actions, although it was delivered.`,
    remedy:
      'Claim each message before you deliver it. Report a message that another request is delivering as fatal, or wait for its result.',
    judge: ({ messages, both, afterwards }, { target: { channel } }) => {
      for (const message of messages) {
        const isDelivered = both.some((exchange) => categoryOf(exchange, message, channel).category === 'successful')
        const last = categoryOf(afterwards, message, channel)
        expect(!isDelivered || last.category !== 'failed', `${afterwards.label}: ${last.shown}`)
        const identifier = identifierOfItem(afterwards, message, channel)
        for (const exchange of both) {
          const item = categoryOf(exchange, message, channel)
          expect(item.category !== 'failed', `${exchange.label}: ${item.shown}`)
          if (item.category === 'successful') expectSameIdentifier(identifier, item.identifier ?? 'none')
        }
      }
    },
  }),
  checkOf(inFlight, {
    ...should('time.in-flight', '§7.2', 29),
    title: 'A message that is sent alone while its batch is in flight gets one identifier, and is not refused.',
    consequence: twice,
    remedy: 'Share the claims of messages between both endpoints of a channel.',
    judge: ({ message, other, first, second, afterwards }, { target: { channel } }) => {
      deliveredItem(first, other, channel)
      const item = categoryOf(first, message, channel)
      expect(item.category !== 'failed', `In the batch: ${item.shown}`)
      const answer = answerOf(second)
      expect(singleOutcome(answer) !== 'failed', `Alone: ${shownAnswer(answer)}`)
      const inBatch = item.category === 'successful' && item.identifier !== undefined ? [item.identifier] : []
      identifierOfNext(afterwards, channel)
      expectOneIdentifier([...inBatch, ...identifiersOf([second, afterwards], channel)])
    },
  }),
]
