// §2.1: ids, members and JSON in forms that a naive reader gets wrong.

import { type Check, checkOf, decision, must, should } from '../check.ts'
import { deliveredItem, identifierOfNext, identifierOfSingle, itemsIn, itemsOf } from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { expect, Failed } from '../verdict.ts'
import { compare, expectAccepted } from './special-message.ts'
import { textMember } from './texts.ts'

const largeIds = {
  scope: 'batch',
  messages: 3,
  run: async (sender: Sender) => {
    const large = [sender.make.nextLargeId(), sender.make.nextLargeId()]
    const messages = [sender.make.message(), ...large.map((idJson) => sender.make.message({ idJson }))]
    return { messages, answered: await sender.batch('a batch with two neighbouring ids above 2^53', messages) }
  },
} as const

const largeIdCheck = checkOf(largeIds, {
  ...must('ids.digits', '§2.1, §2.4', 1),
  title: 'An id above 2^53 comes back with all its digits.',
  consequence:
    'Ids come from databases with 64-bit integers. With other digits the message counts as absent and is repeated without end, or another message is acknowledged.',
  remedy:
    'Read ids as 64-bit integers or as text. In JavaScript use a reviver with context.source, or a parser that keeps big integers.',
  judge: ({ messages: [ordinary, ...large], answered }, { target: { channel } }) => {
    if (ordinary) deliveredItem(answered, ordinary, channel)
    const items = itemsIn(answered, channel)
    const ids = items.map(({ idJson }) => idJson).join(', ')
    for (const message of large)
      expect(itemsOf(items, message).length > 0, `Sent ${message.idJson}; the ids in the answer are ${ids}.`)
  },
})

const neighbours = {
  scope: 'single',
  messages: 2,
  run: async (sender: Sender) => {
    const send = (label: string) => sender.single(label, sender.make.message({ idJson: sender.make.nextLargeId() }))
    return { first: await send('an id above 2^53'), second: await send('the next id') }
  },
} as const

const neighbourCheck = checkOf(neighbours, {
  ...should('ids.distinct', '§2.1', 1),
  title: 'Two ids above 2^53 that differ in the last digit are two messages.',
  consequence: 'The second message is taken for a repetition of the first: it is acknowledged, but never delivered.',
  remedy: 'Compare ids as 64-bit integers or as text, never as floating-point numbers.',
  judge: ({ first, second }, { target: { channel } }) => {
    const identifier = identifierOfSingle(first, channel)
    expect(identifier !== identifierOfNext(second, channel), `Both messages have the identifier ${identifier}.`)
  },
})

const textId = {
  scope: 'batch',
  messages: 2,
  run: async (sender: Sender) => {
    const ordinary = sender.make.message()
    const special = sender.make.message({ idJson: `"${sender.make.nextId()}"` })
    return { ordinary, special, answered: await sender.batch('a batch with an id that is a text', [ordinary, special]) }
  },
} as const

const textIdCheck = checkOf(textId, {
  ...should('ids.text', '§2.1', 2),
  vendor: true,
  title: 'An activity.id that is a JSON text of digits is accepted, and comes back as a text.',
  consequence:
    'The vendor’s published schema of the nearest channel has ids that are texts. All their messages would fail.',
  remedy: 'Accept an integer or a text as activity.id, and return it unchanged.',
  judge: ({ ordinary, special, answered }, { target: { channel } }) => {
    deliveredItem(answered, ordinary, channel)
    const items = itemsIn(answered, channel)
    const [item] = itemsOf(items, special)
    if (!item) throw new Failed(`${special.idJson} is absent from the answer.`)
    expect(item.category === 'successful', `${item.category}: ${item.shown}`)
    expect(item.idJson === special.idJson, `The id ${special.idJson} came back as ${item.idJson}.`)
  },
})

const onlyRequired = compare((sender) => {
  const activity = { activity_id: undefined, action_group_id: undefined, action_id: undefined, trigger_hash: undefined }
  return sender.single('a message with id, brand_id and user_id only', sender.make.message({ activity }))
})

const unknownMembers = compare((sender) =>
  sender.single(
    'a message with unknown members',
    sender.make.message({ activity: { bellwire_check: [1] }, beside: { bellwire_check: { nested: [true, null] } } }),
  ),
)

const otherLayout = compare(async (sender) => {
  const message = sender.make.message()
  const { activity, ...others } = JSON.parse(message.text) as { activity: object; [name: string]: unknown }
  const reversed = { ...others, activity: Object.fromEntries(Object.entries(activity).reverse()) }
  const text = JSON.stringify(reversed, null, 2).replace(/("user_id": )"(.*)"/, (_, name: string, user: string) => {
    return `${name}"${[...user].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
  })
  return sender.single('the members in another order, with line breaks and escapes', { ...message, text })
})

const unicode = compare((sender) => {
  const beside = { [textMember(sender.facts)]: 'Grüße – 你好 – שלום 👋🏽 "quoted" \\ /' }
  return sender.single('a message with text in several scripts', sender.make.message({ beside }))
})

const jsonChecks = [
  checkOf(onlyRequired, {
    ...decision('members.optional', '§2.1', 33),
    title: 'A message is delivered without activity_id, action_group_id, action_id and trigger_hash.',
    consequence:
      'These members only give the reason for a message. Refusing it puts a deliverable message into Failed Actions for good.',
    remedy: 'Require only id, brand_id and user_id.',
    judge: expectAccepted,
  }),
  checkOf(unknownMembers, {
    ...should('members.unknown', '§2.1', 3),
    title: 'A message with unknown members is delivered.',
    consequence:
      'The interface does not show the members with the content. The platform may add members at any time, and all messages would fail.',
    remedy: 'Ignore members that you do not know. Do not validate with additionalProperties: false.',
    judge: expectAccepted,
  }),
  checkOf(otherLayout, {
    ...must('json.layout', '§4'),
    title: 'The order of members, white space and escapes in the JSON text make no difference.',
    consequence: 'Messages fail after a change of the platform’s JSON library.',
    remedy: 'Read bodies with a JSON parser, not with patterns.',
    judge: expectAccepted,
  }),
  checkOf(unicode, {
    ...must('json.unicode', '§4'),
    title: 'Text in any script and emoji are accepted.',
    consequence: 'Messages in other languages fail.',
    remedy: 'Read bodies as UTF-8, and store them in columns of a Unicode encoding (utf8mb4 in MySQL).',
    judge: expectAccepted,
  }),
]

export const idChecks: readonly Check[] = [largeIdCheck, neighbourCheck, textIdCheck, ...jsonChecks]
