// §7.1, §7.2, row 29: the platform repeats a message whenever it has no answer. The user must get it once.

import { sendPaths } from '../../../contract/endpoints.ts'
import { type Check, checkOf, checksOf, decision, must, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { Message } from '../messages.ts'
import {
  categoryOf,
  delivered,
  deliveredItem,
  identifierIn,
  identifierOfItem,
  identifierOfNext,
  identifierOfSingle,
  objectOf,
  singleOutcome,
} from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { answerOf, expect, NotApplicable, NotJudged, shownAnswer } from '../verdict.ts'

const twice = 'The user gets the message twice whenever an answer is lost, and the status of one of the two is lost.'
const storeIt =
  'Store the identifier of each message under channel, brand_id, id, user_id, activity_id, action_id and trigger_hash before you answer. If the message comes again, answer with the stored identifier and deliver nothing.'

export function expectSameIdentifier(first: string, second: string): void {
  expect(first === second, `First ${first}, then ${second}.`)
}

const singleTwice = {
  scope: 'single',
  messages: 2,
  run: async (sender: Sender) => {
    const message = sender.make.message()
    return {
      first: await sender.single('a message', message),
      again: await sender.single('the same message again', message),
    }
  },
} as const

const batchTwice = {
  scope: 'batch',
  messages: 4,
  run: async (sender: Sender) => {
    const messages = [sender.make.message(), sender.make.message()]
    return {
      messages,
      first: await sender.batch('a batch', messages),
      again: await sender.batch('the same batch again', messages),
    }
  },
} as const

const bothModes = {
  scope: 'modes',
  messages: 3,
  run: async (sender: Sender) => {
    const [message, other] = [sender.make.message(), sender.make.message()]
    return {
      message,
      other,
      first: await sender.single('a message', message),
      again: await sender.batch('the same message in a batch', [message, other]),
    }
  },
} as const

const bothChannels = {
  scope: 'channels',
  messages: 4,
  run: async (sender: Sender) => {
    const send = (channel: 'push' | 'site', label: string, { text }: Message): Promise<Exchange> =>
      sender.request({ label, path: sendPaths[channel].single, body: text, messages: 1 })
    const message = sender.make.message()
    // Only the ids are equal: the vendor's rule of one message for each action and trigger does not apply.
    const activity = { trigger_hash: `bellwire-check-${sender.make.mark}-site` }
    const sameId = sender.make.message({ idJson: message.idJson, activity })
    return {
      message,
      ordinary: await send('site', 'an ordinary on-site notification', sender.make.message()),
      push: await send('push', 'a push', message),
      sameId: await send('site', 'an on-site notification with the same id', sameId),
      equal: await send('site', 'an on-site notification that is equal in all members', message),
    }
  },
} as const

const blockedTwice = {
  scope: 'single',
  needs: ['blocked user'],
  messages: 3,
  run: async (sender: Sender) => {
    const message = sender.make.message({ user: 'blocked' })
    return {
      ordinary: await sender.single('an ordinary message', sender.make.message()),
      first: await sender.single('a message to the blocked user', message),
      again: await sender.single('the same message again', message),
    }
  },
} as const

const otherTrigger = {
  scope: 'single',
  messages: 2,
  run: async (sender: Sender) => {
    const idJson = sender.make.nextId()
    const activity = { trigger_hash: `bellwire-check-${sender.make.mark}-other` }
    return {
      first: await sender.single('a message', sender.make.message({ idJson })),
      other: await sender.single('the same id with another trigger_hash', sender.make.message({ idJson, activity })),
    }
  },
} as const

/** @throws NotApplicable if the operator makes identifiers of the id: then equal ones do not show that a message was not delivered */
function expectTwoMessages({ idJson }: Message, ordinary: Exchange, push: Exchange, site: Exchange): void {
  identifierOfSingle(ordinary, 'site')
  const identifier = identifierOfSingle(push, 'push')
  const next = identifierOfNext(site, 'site')
  if (next === identifier && identifier.includes(idJson))
    throw new NotApplicable(`the operator makes its identifiers of activity.id: ${identifier}`)
  expect(next !== identifier, `Both have the identifier ${identifier}.`)
}

export const duplicateChecks: readonly Check[] = [
  checkOf(singleTwice, {
    ...should('repeat.single', '§7.1', 29),
    title: 'A delivered message that is sent again is successful again, with the first identifier.',
    consequence: twice,
    remedy: storeIt,
    judge: ({ first, again }, { target: { channel } }) => {
      const identifier = identifierOfSingle(first, channel)
      const answer = answerOf(again)
      expect(singleOutcome(answer) === 'successful', `The repetition: ${shownAnswer(answer)}`)
      expectSameIdentifier(identifier, identifierIn(objectOf(answer), channel) ?? 'none')
    },
  }),
  checkOf(batchTwice, {
    ...should('repeat.batch', '§7.2', 29),
    title: 'The delivered messages of a batch that is sent again are successful again, with their first identifiers.',
    consequence: `${twice} If the repetition is refused, delivered messages are listed in Failed Actions.`,
    remedy: storeIt,
    judge: ({ messages, first, again }, { target: { channel } }) => {
      for (const message of messages) {
        const identifier = identifierOfItem(first, message, channel)
        const item = categoryOf(again, message, channel)
        expect(item.category === 'successful', `The repetition is ${item.category}: ${item.shown}`)
        expectSameIdentifier(identifier, item.identifier ?? 'none')
      }
    },
  }),
  checkOf(bothModes, {
    ...should('repeat.modes', '§7.2', 29),
    title: 'A message that was delivered as a single message is not delivered again in a batch.',
    consequence: 'A platform sends a message alone to find the cause of a refused batch. The user gets it twice.',
    remedy: 'Share the stored identifiers between both endpoints of a channel.',
    judge: ({ message, other, first, again }, { target: { channel } }) => {
      const identifier = identifierOfSingle(first, channel)
      deliveredItem(again, other, channel)
      const item = categoryOf(again, message, channel)
      expect(item.category !== 'failed', `The repetition is ${item.category}: ${item.shown}`)
      expectSameIdentifier(identifier, identifierOfItem(again, message, channel))
    },
  }),
  ...checksOf(bothChannels, [
    {
      ...must('repeat.channels', '§2.2, §4.1'),
      title: 'A push and an on-site notification with the same id are two messages.',
      consequence: 'One of the two is never delivered, because it is taken for a repetition of the other.',
      remedy: 'Make the channel a part of the key under which you store identifiers.',
      judge: ({ message, ordinary, push, sameId }) => expectTwoMessages(message, ordinary, push, sameId),
    },
    {
      ...should('repeat.channels-equal', '§2.2, §4.1', 29),
      title: 'A push and an on-site notification that are equal in all members are two messages.',
      consequence: 'The on-site notification is acknowledged with the identifier of the push, and never delivered.',
      remedy: 'Make the channel a part of the key under which you store identifiers.',
      judge: ({ message, ordinary, push, equal }) => expectTwoMessages(message, ordinary, push, equal),
    },
  ]),
  checkOf(blockedTwice, {
    ...should('repeat.failed', '§6, §7.1', 29),
    title: 'A refused message that is sent again is refused again.',
    consequence: 'A person replays the message from Failed Actions: it counts as delivered, although it was not.',
    remedy: 'Store only successes as delivered. Try a message that failed before again, with all its checks.',
    judge: ({ ordinary, first, again }) => {
      delivered(ordinary)
      const answer = answerOf(first)
      if (singleOutcome(answer) !== 'failed') throw new NotJudged('the first message was not refused (blocked.single)')
      const second = answerOf(again)
      expect(singleOutcome(second) === 'failed', `The repetition: ${shownAnswer(second)}`)
    },
  }),
  checkOf(otherTrigger, {
    ...decision('repeat.other-trigger', '§2.1', 29),
    title: 'The same id with another trigger_hash is another message.',
    consequence: 'If the platform reuses an id, the second message is acknowledged but never delivered.',
    remedy: 'Make user_id, activity_id, action_id and trigger_hash parts of the key under which you store identifiers.',
    judge: ({ first, other }, { target: { channel } }) => {
      const identifier = identifierOfSingle(first, channel)
      expect(identifier !== identifierOfNext(other, channel), `Both have the identifier ${identifier}.`)
    },
  }),
]
