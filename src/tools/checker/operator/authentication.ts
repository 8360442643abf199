// §5.1: every request carries the API key, and the operator authenticates it.

import { type Check, checkOf, checksOf, decision, must, should } from '../check.ts'
import type { Exchange, KeyUse } from '../exchange.ts'
import {
  delivered,
  errorOf,
  expectNotDelivered,
  isSuccess,
  objectOf,
  refusesWith,
  reportsDelivery,
} from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import {
  answerOf,
  briefAnswer,
  expect,
  expectAnswer,
  Failed,
  isUnanswered,
  NotApplicable,
  NotJudged,
  shownAnswer,
} from '../verdict.ts'
import { anyField } from './streams.ts'

const wrongKeys: Readonly<Partial<Record<KeyUse, string>>> = {
  other: 'another key',
  shortened: 'the key without its last character',
  lengthened: 'the key with one more character',
  other_case: 'the key in the other case',
  empty: 'an empty key',
}

/** A request of the target's endpoint that is answered with a success if it carries the right key. */
async function sendValid(sender: Sender, label: string, key: KeyUse): Promise<Exchange> {
  if (sender.target.feature === 'reconciliation') return sender.list(label, anyField(sender.facts), { key })
  return sender.one(label, { key })
}

interface Refused {
  /** With the right key: without a success, refusals prove nothing. */
  readonly ordinary: Exchange
  readonly withoutKey: Exchange
  readonly wrong: readonly Exchange[]
}

async function sendUnauthenticated(sender: Sender): Promise<Refused> {
  const ordinary = await sendValid(sender, 'the right key', 'right')
  const wrong: Exchange[] = []
  for (const [key, label] of Object.entries(wrongKeys)) wrong.push(await sendValid(sender, label, key as KeyUse))
  return { ordinary, withoutKey: await sendValid(sender, 'no key', 'none'), wrong }
}

const unauthenticated = { scope: 'send', messages: 7, run: sendUnauthenticated } as const

const refusedChecks = checksOf(unauthenticated, [
  {
    ...must('auth.required', '§5.1'),
    title: 'A request without a key delivers no message.',
    consequence: 'Anybody on the network can send notifications to your users in your name.',
    remedy: 'Refuse every request without the header X-Api-Key, before anything else.',
    judge: ({ ordinary, withoutKey }) => {
      delivered(ordinary)
      expectNotDelivered(withoutKey)
    },
  },
  {
    ...must('auth.wrong-key', '§5.1'),
    title: 'A request with a wrong key delivers no message, also if the key is nearly right.',
    consequence: 'Anybody who knows or guesses a part of the key can send notifications to your users.',
    remedy: 'Compare the whole key, in constant time (crypto.timingSafeEqual, hmac.compare_digest).',
    judge: ({ ordinary, wrong }) => {
      delivered(ordinary)
      for (const exchange of wrong) expectNotDelivered(exchange)
    },
  },
  {
    ...must('auth.error', '§2.3, §7.1'),
    title: 'The refusal of a single message with a missing or wrong key is an object with a text as error.',
    consequence: 'Failed Actions lists the messages without a reason, so nobody learns that the key is wrong.',
    remedy: 'Answer {"error": "…"} with a sentence that names the header X-Api-Key, also for errors of a gateway.',
    judge: ({ ordinary, withoutKey, wrong }, { target: { mode } }) => {
      if (mode === 'batch') throw new NotApplicable('the interface does not show the body of a refused batch')
      delivered(ordinary)
      for (const exchange of [withoutKey, ...wrong]) {
        // Other checks judge accepted keys and closed connections.
        if (isUnanswered(exchange) || isSuccess(answerOf(exchange))) continue
        expectAnswer(exchange, (answer) => errorOf(answer) !== undefined)
      }
    },
  },
  {
    ...decision('auth.status', '§5.1', 14),
    title: 'A request with a missing or wrong key is answered 401 with a text as error.',
    consequence: 'A platform that gets 401 can say that the key is wrong. From 400 or 403 it cannot tell.',
    remedy: 'Answer 401 {"error": "…"}.',
    judge: ({ ordinary, withoutKey, wrong }) => {
      delivered(ordinary)
      for (const exchange of [withoutKey, ...wrong]) {
        if (reportsDelivery(answerOf(exchange)))
          throw new NotJudged(`${exchange.label}: accepted, which another check judges`)
        expectAnswer(exchange, (answer) => refusesWith(401, answer))
      }
    },
  },
])

const headerNames = {
  scope: 'send',
  messages: 3,
  run: async (sender: Sender): Promise<readonly Exchange[]> => {
    const exchanges: Exchange[] = []
    for (const keyHeader of ['X-Api-Key', 'x-api-key', 'X-API-KEY'])
      exchanges.push(await sender.one(`the key in the header ${keyHeader}`, { keyHeader }))
    return exchanges
  },
} as const

const headerCheck = checkOf(headerNames, {
  ...must('auth.header-name', '§5.1'),
  title: 'The name of the header of the key is not case-sensitive.',
  consequence: 'The header is written X-Api-Key for push and x-api-key for on-site: one of the two channels fails.',
  remedy: 'Read the header with the functions of your HTTP library, which ignore upper and lower case.',
  judge: ([first, ...others]) => {
    if (first) delivered(first)
    for (const exchange of others) expectAnswer(exchange, isSuccess)
  },
})

const wrongKeyAndBody = {
  scope: 'send',
  messages: 0,
  run: (sender: Sender) => sender.send('a wrong key and a body that is not JSON', '{"activity"', { key: 'other' }),
} as const

const orderCheck = checkOf(wrongKeyAndBody, {
  ...decision('auth.first', '§5.1', 14),
  title: 'The key is checked before the body.',
  consequence: 'Strangers make the operator read and parse their bodies, and learn from errors how it works.',
  remedy: 'Authenticate in the first step of the request, and read the body afterwards.',
  judge: (exchange) => {
    const answer = answerOf(exchange)
    expect(answer.status === 401 || answer.status === 403, shownAnswer(answer))
  },
})

const afterWrongKeys = {
  scope: 'single',
  messages: 6,
  run: async (sender: Sender) => {
    const before = await sender.single('a message', sender.make.message())
    for (let n = 1; n <= 4; n++)
      await sender.single(`a wrong key, attempt ${n}`, sender.make.message(), { key: 'other' })
    return { before, after: await sender.single('the right key after four wrong ones', sender.make.message()) }
  },
} as const

const lockoutCheck = checkOf(afterWrongKeys, {
  ...should('auth.no-lockout', '§5.1, §7.1', 14),
  title: 'The right key is accepted right after four requests with a wrong key.',
  consequence:
    'The platform replaces a key and sends with the old one for a moment. A lock of its address refuses its messages, which are dropped.',
  remedy: 'Slow down wrong keys, but never refuse the right one.',
  judge: ({ before, after }) => {
    delivered(before)
    const answer = answerOf(after)
    expect(isSuccess(answer), shownAnswer(answer))
  },
})

const listWithoutKey = { scope: 'reconciliation', messages: 0, run: sendUnauthenticated } as const

const listCheck = checkOf(listWithoutKey, {
  ...should('auth.reconciliation', '§5.3', 15),
  title: 'The lists of users are given only to a caller with the key.',
  consequence: 'Anybody on the network reads which of your users are blocked or excluded themselves.',
  remedy: 'Check the header X-Api-Key at /reconciliation as at the other endpoints.',
  judge: ({ ordinary, withoutKey, wrong }) => {
    const answer = answerOf(ordinary)
    if (objectOf(answer)?.users === undefined)
      throw new NotJudged(`no list with the right key (${briefAnswer(answer)})`)
    for (const exchange of [withoutKey, ...wrong]) {
      const users = objectOf(answerOf(exchange))?.users
      if (users !== undefined) throw new Failed(`${exchange.label}: a list of users`)
    }
  },
})

export const authenticationChecks: readonly Check[] = [
  ...refusedChecks,
  headerCheck,
  orderCheck,
  listCheck,
  lockoutCheck,
]
