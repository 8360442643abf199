// §7.3, §8.3: lists while they are streamed.

import { type Check, checkOf, must, should } from '../check.ts'
import type { Answer, Exchange } from '../exchange.ts'
import type { Facts } from '../facts.ts'
import { errorOf, objectOf } from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { answerOf, expect, Failed, NotJudged, shownAnswer } from '../verdict.ts'

/** The field of scenarios that need any list. */
export const anyField = ({ fields }: Facts): string => fields?.[0] ?? 'blocked'

const failingList = {
  scope: 'reconciliation',
  needs: ['failing field'],
  messages: 0,
  run: (sender: Sender) =>
    sender.list('a list whose source fails', sender.facts.failingField ?? anyField(sender.facts)),
} as const

const failingCheck = checkOf(failingList, {
  ...must('reconciliation.error', '§7.3'),
  title: 'An error while the list is streamed is reported in the body, as an object with error.',
  consequence:
    'The platform takes the first part of the list for the whole list, and clears the attribute of all other users.',
  remedy: 'Close the JSON with an error and without a timestamp: {"users": […], "error": "…"}.',
  judge: (exchange) => {
    const answer = answerOf(exchange)
    const fields = objectOf(answer)
    if (!fields) throw new Failed(`The body is not a complete JSON object: …${answer.body.slice(-80)}`)
    expect(fields.error !== undefined && fields.error !== null, `No error in ${shownAnswer(answer)}`)
  },
})

interface Repeated {
  readonly before: Exchange
  readonly after: readonly Exchange[]
}

const afterCut = {
  scope: 'reconciliation',
  messages: 0,
  run: async (sender: Sender): Promise<Repeated> => {
    const field = anyField(sender.facts)
    const before = await sender.list('a list', field)
    const cut: Exchange[] = []
    for (let n = 1; n <= 5; n++)
      cut.push(await sender.list(`a list that is cut, ${n}`, field, { abandon: 'first_bytes' }))
    const crashes = cut.filter(({ lost }) => lost?.blame === 'crash')
    return { before, after: [...crashes, await sender.list('the list after five cut ones', field)] }
  },
} as const

const slowReader = {
  scope: 'reconciliation',
  messages: 0,
  run: async (sender: Sender): Promise<Repeated> => {
    const field = anyField(sender.facts)
    const before = await sender.list('a list', field)
    const slow = await sender.list('a list that is read slowly', field, { readAfterMs: sender.facts.pace.slow })
    return { before, after: [slow] }
  },
} as const

const atOnce = {
  scope: 'reconciliation',
  messages: 0,
  run: async (sender: Sender): Promise<Repeated> => {
    const field = anyField(sender.facts)
    const before = await sender.list('a list', field)
    const list = (label: string): Promise<Exchange> => sender.list(label, field)
    return { before, after: await Promise.all([list('a list at once with another'), list('the other list')]) }
  },
} as const

/** A complete list: its members. Undefined if the answer is no complete list. */
function completeList(answer: Answer): Readonly<Record<string, unknown>> | undefined {
  const fields = answer.status === 200 ? objectOf(answer) : undefined
  const isList = Array.isArray(fields?.users) && typeof fields.timestamp === 'string'
  return isList && (fields.error === undefined || fields.error === null) ? fields : undefined
}

/** @throws NotJudged if no list was seen before */
function sizeBefore({ before }: Pick<Repeated, 'before'>): number {
  const answer = answerOf(before)
  const list = completeList(answer)
  if (!list) throw new NotJudged(`no list to begin with: ${shownAnswer(answer)}`, true)
  return (list.users as readonly unknown[]).length
}

function expectComplete(repeated: Repeated): void {
  const size = sizeBefore(repeated)
  for (const exchange of repeated.after) {
    const answer = answerOf(exchange)
    const list = completeList(answer)
    if (!list) throw new Failed(`${exchange.label}: ${answer.complete ? shownAnswer(answer) : 'the body is cut'}`)
    // The users may change between two lists, but not by half of them.
    const users = (list.users as readonly unknown[]).length
    expect(users * 2 >= size, `${exchange.label}: ${users} users, before ${size}`)
  }
}

export const streamChecks: readonly Check[] = [
  failingCheck,
  checkOf(afterCut, {
    ...should('reconciliation.cut', '§8.3'),
    title: 'After several lists that the caller cut, the next one is complete.',
    consequence: 'Every broken connection keeps a query or a slot occupied, until no list can be had any more.',
    remedy: 'End the query and free the slot when the connection of the caller closes.',
    judge: expectComplete,
  }),
  checkOf(slowReader, {
    ...should('reconciliation.slow-reader', '§8.3'),
    title: 'A list that is read slowly is complete.',
    consequence: 'A platform that stores while it reads never gets a long list.',
    remedy: 'Wait while the connection accepts no more data. Raise the write timeout of your server and proxy.',
    judge: expectComplete,
  }),
  checkOf(atOnce, {
    ...should('reconciliation.at-once', '§8.3'),
    title: 'Two lists at once are both complete, or one is refused with 503.',
    consequence:
      'A list with a part of its users looks complete: the platform clears the attribute of all other users.',
    remedy: 'Give each request a cursor of its own, or answer 503 {"error": "…"} while another list is streamed.',
    judge: ({ before, after }) => {
      sizeBefore({ before })
      const lists = after.filter((exchange) => {
        const answer = answerOf(exchange)
        return !(answer.status === 503 && errorOf(answer) !== undefined)
      })
      expect(lists.length > 0, 'Both lists were refused.')
      expectComplete({ before, after: lists })
    },
  }),
]
