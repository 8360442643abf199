// §2.4, §7.2: the outcomes of batches with messages that cannot be delivered, and of bodies that are no batch.

import { type Check, checkOf, checksOf, decision, must, type Scenario, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { Facts } from '../facts.ts'
import type { Message } from '../messages.ts'
import {
  categories,
  categoryOf,
  deliveredItem,
  errorOf,
  itemsIn,
  itemsOf,
  objectOf,
  processed,
} from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { answerOf, excerpt, expect, expectAnswer, Failed, NotJudged, shownAnswer } from '../verdict.ts'
import { unstorable, unstorableKinds } from './texts.ts'

/** A message that cannot be delivered between two that can. */
interface Mixed {
  readonly before: Message
  readonly bad: Message
  readonly after: Message
  readonly answered: Exchange
}

async function sendMixed(sender: Sender, label: string, bad: Message): Promise<Mixed> {
  const [before, after] = [sender.make.message(), sender.make.message()]
  return { before, bad, after, answered: await sender.batch(label, [before, bad, after]) }
}

/** A batch with malformed items between messages that can be delivered. */
interface WithBad {
  readonly good: readonly Message[]
  /** The malformed items that have an id, by which they can be reported. */
  readonly bad: readonly Message[]
  readonly answered: Exchange
}

interface BadItems {
  readonly ordinary: Exchange
  /**
   * All kinds, some in each batch. If the status of a batch is not 200, each of its kinds is in a batch of its own too, so that the
   * report names it.
   */
  readonly batches: readonly WithBad[]
  /** A batch without a message that can be delivered. */
  readonly alone: Exchange
}

/** Items without an id. */
const noRecords = ['{}', 'null', '"a text"', '7', '[]', '{"activity":null}', '{"activity":"a text"}', '{"activity":[]}']
const badKinds = 3 + noRecords.length

async function sendBadItems(sender: Sender): Promise<BadItems> {
  const { message } = sender.make
  const withId = {
    'a message without user_id': message({ activity: { user_id: undefined } }),
    'a message whose user_id is null': message({ activity: { user_id: null } }),
    'a message whose user_id is an object': message({ activity: { user_id: {} } }),
  }
  const withoutId = Object.fromEntries(noRecords.map((text) => [`the item ${text}`, { idJson: '', text }]))
  const send = async (label: string, items: readonly Message[]): Promise<WithBad> => {
    const good = [message(), message()] as const
    const answered = await sender.batch(`a batch with ${label}`, [good[0], ...items, good[1]])
    return { good, bad: items.filter(({ idJson }) => idJson !== ''), answered }
  }
  const ordinary = await sender.batch('an ordinary batch', [message(), message()])
  const kinds = { ...withId, ...withoutId }
  const batches: WithBad[] = []
  for (const part of partsOf(Object.entries(kinds), sender.facts)) {
    const all = await send(
      `${part.length} malformed items`,
      part.map(([, item]) => item),
    )
    if (all.answered.answer?.status !== 200 && part.length > 1)
      for (const [label, item] of part) batches.push(await send(label, [item]))
    batches.push(all)
  }
  const alone = await sender.batch('a batch of malformed messages only', Object.values(withId).slice(0, 2))
  return { ordinary, batches, alone }
}

/** Parts that fit into batches of five messages, or of the agreed maximum if it is smaller, with two other messages in each. */
function partsOf<Item>(items: readonly Item[], { batchMax }: Facts): readonly (readonly Item[])[] {
  const size = Math.min(5, batchMax) - 2
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size))
}

const withBadItem: Scenario<BadItems> = { scope: 'batch', messages: 3 + badKinds * 6, run: sendBadItems }

/**
 * §4.1 defines the body of a batch as an array of records, and §7.2 the effect of any status: another one than 200 repeats the batch.
 * Neither says how a batch with another item is answered, so a refusal of the whole batch violates no `must`. Its effect on the
 * other messages does the harm.
 */
const badItemChecks = checksOf(withBadItem, [
  {
    ...should('bad-item.status', '§7.2'),
    title: 'A batch with one malformed message is answered 200.',
    consequence:
      'Any other status repeats the whole batch. It is refused again each time, so none of its messages is ever delivered.',
    remedy: 'Check each message by itself: report the malformed one as failed, and process the others.',
    judge: ({ ordinary, batches }) => {
      const usual = processed(ordinary)
      if (usual.status !== 200) throw new NotJudged(`the usual status is ${usual.status} (batch.status)`)
      for (const { answered } of batches) expectAnswer(answered, ({ status }) => status === 200)
    },
  },
  {
    ...should('bad-item.alone', '§7.2'),
    title: 'A batch of which all messages are malformed is answered 200.',
    consequence: 'Any other status repeats the batch, and it is refused again each time.',
    remedy: 'Answer 200 also if all messages are in failed.',
    judge: ({ batches, alone }) => {
      const refused = batches.find(({ answered }) => answered.answer?.status !== 200)
      if (refused) throw new NotJudged(`${refused.answered.label}: not answered 200 (bad-item.status)`)
      expectAnswer(alone, ({ status }) => status === 200)
    },
  },
  {
    ...must('bad-item.form', '§2.4, §4.1'),
    title: 'An answer with failed messages has the form of any other: arrays, and items with the id of their message.',
    consequence: 'The platform cannot find the outcome of these messages: it repeats all of them without end.',
    remedy:
      'Write each category as an array, also with one item. Each item has the value of activity.id unchanged as id, and each message is in one category.',
    judge: ({ batches }, { target: { channel } }) => {
      for (const { answered, good, bad } of batches) {
        const fields = objectOf(processed(answered))
        const failed: unknown = fields?.failed ?? []
        expect(Array.isArray(failed), `failed is ${excerpt(JSON.stringify(failed), 80)}, not an array.`)
        const items = itemsIn(answered, channel)
        for (const message of [...good, ...bad]) {
          const found = itemsOf(items, message)
          expect(found.length <= 1, `${message.idJson} is in ${found.map(({ category }) => category).join(' and ')}.`)
          for (const { idJson, shown } of found)
            expect(idJson === message.idJson, `The id ${message.idJson} came back as ${idJson}: ${shown}`)
        }
      }
    },
  },
  {
    ...should('bad-item.others', '§7.2'),
    title: 'A malformed message does not change the outcome of the other messages in its batch.',
    consequence: 'One malformed message makes hundreds of others fail.',
    remedy: 'Check each message by itself, in a transaction or a try block of its own.',
    judge: ({ ordinary, batches }, { target: { channel } }) => {
      processed(ordinary)
      for (const { answered, good } of batches) expectUndisturbed(answered, good, channel)
    },
  },
  {
    ...should('bad-item.failed', '§2.4, §7.2'),
    title: 'A malformed message of a batch is reported as failed.',
    consequence: 'As fatal or absent it is repeated without end. As successful it is lost.',
    remedy: 'Report it in failed with its id.',
    judge: ({ batches }, { target: { channel } }) => {
      for (const { answered, bad } of batches)
        for (const message of bad) {
          const [item] = itemsOf(itemsIn(answered, channel), message)
          if (!item) throw new Failed(`${answered.label}: message ${message.idJson} is absent from the answer.`)
          expect(item.category === 'failed', `${item.category}: ${item.shown}`)
        }
    },
  },
  {
    ...decision('bad-item.error', '§2.4', 11),
    title: 'An item of failed has a text as error.',
    consequence: 'Failed Actions lists the message without a reason.',
    remedy: 'Add "error": "…" to each item of failed and fatal.',
    judge: ({ batches }, { target: { channel } }) => {
      for (const { answered, bad } of batches)
        for (const message of bad) {
          const item = categoryOf(answered, message, channel)
          if (item.category === 'successful') throw new NotJudged('it is successful (bad-item.failed)')
          expect(item.error !== undefined, `No error in ${item.shown}`)
        }
    },
  },
])

/** @throws Failed if one of these messages, which can be delivered, has another outcome because of others in its batch */
function expectUndisturbed(answered: Exchange, good: readonly Message[], channel: 'push' | 'site'): void {
  for (const message of good) {
    const isAbsent = itemsOf(itemsIn(answered, channel), message).length === 0
    expect(!isAbsent, `${answered.label}: message ${message.idJson} is absent from the answer.`)
    const item = categoryOf(answered, message, channel)
    expect(item.category === 'successful', `${answered.label}: ${item.category}: ${item.shown}`)
  }
}

const withUnstorable = {
  scope: 'batch',
  messages: 2 + unstorableKinds * 3,
  run: async (sender: Sender) => {
    const { message } = sender.make
    const ordinary = await sender.batch('an ordinary batch', [message(), message()])
    const bad = Object.values(unstorable(sender)).map((options) => message(options))
    const batches: { readonly good: readonly Message[]; readonly answered: Exchange }[] = []
    for (const part of partsOf(bad, sender.facts)) {
      const good = [message(), message()] as const
      const label = 'a batch with messages that have U+0000 or a lone surrogate'
      batches.push({ good, answered: await sender.batch(label, [good[0], ...part, good[1]]) })
    }
    return { ordinary, batches }
  },
} as const

const unstorableCheck = checkOf(withUnstorable, {
  ...should('bad-item.text', '§7.2', 41),
  title: 'A message with U+0000 or a lone surrogate does not change the outcome of the others in its batch.',
  consequence: 'The database refuses the text, and the whole batch fails: it is repeated without end.',
  remedy: 'Look for these characters before you store a message, and report it as failed.',
  judge: ({ ordinary, batches }, { target: { channel } }) => {
    processed(ordinary)
    for (const { answered, good } of batches) {
      expectAnswer(answered, ({ status }) => status < 300)
      expectUndisturbed(answered, good, channel)
    }
  },
})

const withBlocked = {
  scope: 'batch',
  needs: ['blocked user'],
  messages: 3,
  run: (sender: Sender) =>
    sendMixed(sender, 'a batch with a message to the blocked user', sender.make.message({ user: 'blocked' })),
} as const

const blockedCheck = checkOf(withBlocked, {
  ...should('blocked.batch', '§2.5, §7.2'),
  title: 'A message to a blocked user in a batch is reported as failed.',
  consequence:
    'As successful, a self-excluded player received a promotion. As fatal or absent it is repeated without end.',
  remedy: 'Ask the source that answers reconciliation for each message of a batch, and report it in failed.',
  judge: (mixed, { target: { channel } }) => expectFailed(mixed, channel),
})

const withDeviceless = {
  scope: 'batch',
  except: ({ channel }) => channel !== 'push',
  needs: ['user without device'],
  messages: 3,
  run: (sender: Sender) =>
    sendMixed(
      sender,
      'a batch with a push to the user without a device',
      sender.make.message({ user: 'withoutDevice' }),
    ),
} satisfies Scenario<Mixed>

const devicelessCheck = checkOf(withDeviceless, {
  ...should('no-device.batch', '§7.2'),
  title: 'A push to a user without a device in a batch is reported as failed.',
  consequence:
    'As fatal or absent it is repeated without end. As successful it counts as delivered, although nobody received it.',
  remedy: 'Report it in failed with its id.',
  judge: (mixed, { target: { channel } }) => expectFailed(mixed, channel),
})

/** @throws NotJudged if the messages around it were not delivered */
function expectFailed({ answered, before, bad, after }: Mixed, channel: 'push' | 'site'): void {
  for (const message of [before, after]) deliveredItem(answered, message, channel)
  const [item] = itemsOf(itemsIn(answered, channel), bad)
  if (!item) throw new Failed(`Message ${bad.idJson} is absent from the answer.`)
  expect(item.category === 'failed', `${item.category}: ${item.shown}`)
}

const invalidIds = ['-1.5', 'true', '""']

const unreadableId = {
  scope: 'batch',
  messages: 2 * invalidIds.length,
  run: async (sender: Sender) => {
    const batches: { readonly good: Message; readonly bad: Message; readonly answered: Exchange }[] = []
    for (const idJson of invalidIds) {
      const [good, bad] = [sender.make.message(), sender.make.message({ idJson })]
      batches.push({ good, bad, answered: await sender.batch(`a batch with the id ${idJson}`, [good, bad]) })
    }
    return batches
  },
} as const

const unreadableIdCheck = checkOf(unreadableId, {
  ...decision('bad-item.id', '§2.4', 27),
  title: 'A message with an invalid id is reported as failed, with the id as it was sent.',
  consequence: 'If it is absent, it is repeated without end; in failed, a person sees it.',
  remedy: 'Return the value of activity.id in failed even if it is not a valid id.',
  judge: (batches, { target: { channel } }) => {
    for (const { answered, good, bad } of batches) {
      deliveredItem(answered, good, channel)
      const [item] = itemsOf(itemsIn(answered, channel), bad)
      if (!item) throw new Failed(`The id ${bad.idJson} is absent from the answer.`)
      expect(item.category === 'failed' && item.idJson === bad.idJson, `${item.category}: ${item.shown}`)
    }
  },
})

const sameTwice = {
  scope: 'batch',
  messages: 3,
  run: async (sender: Sender) => {
    const [message, other] = [sender.make.message(), sender.make.message()]
    return { message, answered: await sender.batch('a batch that has a message twice', [message, other, message]) }
  },
} as const

const sameTwiceCheck = checkOf(sameTwice, {
  ...decision('absence.repeated', '§2.4', 28),
  title: 'A message that is twice in a batch is reported once.',
  consequence:
    'With two identifiers in the answer, the user got the message twice, and the status of one of them is lost.',
  remedy: 'Process identical messages of a batch once.',
  judge: ({ answered, message }, { target: { channel } }) => {
    const found = itemsOf(itemsIn(answered, channel), message)
    if (found.length === 0) throw new NotJudged('the message is absent from the answer')
    expect(found.length === 1, `Reported ${found.length} times: ${found.map(({ shown }) => shown).join(', ')}`)
  },
})

const empty = {
  scope: 'batch',
  messages: 0,
  run: (sender: Sender) => sender.send('an empty batch', '[]'),
} as const

const emptyCheck = checkOf(empty, {
  ...decision('batch.empty', '§4.1', 36),
  title: 'An empty batch is answered 200 with three empty arrays.',
  consequence: 'A platform that sends one after its time span repeats it.',
  remedy: 'Answer {"successful": [], "failed": [], "fatal": []}.',
  judge: (exchange) => {
    const answer = answerOf(exchange)
    const fields = objectOf(answer)
    const isEmpty = categories.every((category) => {
      const list: unknown = fields?.[category]
      return Array.isArray(list) && list.length === 0
    })
    expect(answer.status === 200 && isEmpty, shownAnswer(answer))
  },
})

const unreadable = {
  scope: 'batch',
  messages: 2,
  run: async (sender: Sender): Promise<readonly Exchange[]> => {
    const { text } = sender.make.message()
    return [
      await sender.send('a truncated array', `[${text}`, { messages: 1 }),
      await sender.send('an object in place of an array', text, { messages: 1 }),
    ]
  },
} as const

const unreadableChecks = checksOf(unreadable, [
  {
    ...should('batch.unreadable', '§7.2'),
    title: 'A body that is not a JSON array is not answered 200.',
    consequence:
      'A 200 says that the batch was processed, and hides that the platform and the operator understand it differently.',
    remedy: 'Answer 400.',
    judge: (exchanges) => {
      for (const exchange of exchanges) expectAnswer(exchange, ({ status }) => status !== 200)
    },
  },
  {
    ...decision('batch.error', '§7.2', 12),
    title: 'A batch that is refused as a whole is answered with a text as error.',
    consequence: 'The platform repeats the batch, and nobody learns why.',
    remedy: 'Answer {"error": "…"} with every status other than 200.',
    judge: (exchanges) => {
      for (const exchange of exchanges) {
        if (answerOf(exchange).status === 200) throw new NotJudged('answered 200 (batch.unreadable)')
        expectAnswer(exchange, (answer) => errorOf(answer) !== undefined)
      }
    },
  },
])

export const batchOutcomeChecks: readonly Check[] = [
  ...badItemChecks,
  unstorableCheck,
  unreadableIdCheck,
  blockedCheck,
  devicelessCheck,
  sameTwiceCheck,
  emptyCheck,
  ...unreadableChecks,
]
