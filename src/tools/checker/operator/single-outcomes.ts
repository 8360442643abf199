// §2.3, §7.1: the outcomes of single messages that cannot be delivered.

import { type Check, checkOf, checksOf, decision, must, type Scenario, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import { delivered, errorOf, expectNotDelivered, singleOutcome } from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { answerOf, excerpt, expect, expectAnswer, isUnanswered, NotJudged, shownAnswer } from '../verdict.ts'
import { type Compared, compare } from './special-message.ts'

/** Bodies that are no activity request record. */
function malformedBodies(sender: Sender): Readonly<Record<string, string>> {
  const { text, idJson } = sender.make.message()
  const user = JSON.stringify(sender.facts.users.normal)
  return {
    'a body that is not JSON': text.slice(0, -1),
    'an array in place of an object': `[${text}]`,
    'null in place of an object': 'null',
    'a record without activity': '{"title":"bellwire check"}',
    'a record whose activity is null': '{"activity":null}',
    'a record whose activity is a text': '{"activity":"bellwire check"}',
    'a record without user_id': text.replace(`,"user_id":${user}`, ''),
    'a record whose user_id is an object': text.replace(`"user_id":${user}`, '"user_id":{}'),
    'a record without id': text.replace(`"id":${idJson},`, ''),
    'a record whose id is an object': text.replace(`"id":${idJson}`, '"id":{}'),
  }
}

interface Malformed {
  /** A message that is delivered: without one, refusals prove nothing. */
  readonly ordinary: Exchange
  readonly exchanges: readonly Exchange[]
}

const malformed: Scenario<Malformed> = {
  scope: 'single',
  messages: 11,
  run: async (sender) => {
    const ordinary = await sender.single('an ordinary message', sender.make.message())
    const exchanges: Exchange[] = []
    for (const [label, body] of Object.entries(malformedBodies(sender)))
      exchanges.push(await sender.send(label, body, { messages: 1 }))
    return { ordinary, exchanges }
  },
}

const malformedChecks = checksOf(malformed, [
  {
    ...must('malformed.not-delivered', '§7.1'),
    title: 'A malformed message is not answered with a status from 200 to 299.',
    consequence: 'The platform counts the message as delivered: it is lost, and nobody notices.',
    remedy:
      'Check the body, the object activity, its id and its user_id before you answer; refuse with 400 and an error record.',
    judge: ({ ordinary, exchanges }) => {
      delivered(ordinary)
      for (const exchange of exchanges) expectNotDelivered(exchange)
    },
  },
  {
    ...should('malformed.final', '§7.1'),
    title: 'A malformed message is answered with a status from 400 to 499.',
    consequence:
      'The platform repeats the message without end. If messages keep their order, all later ones wait behind it.',
    remedy: 'Answer 400. Catch the errors of the JSON parser, which many frameworks answer with 500.',
    judge: ({ ordinary, exchanges }) => {
      delivered(ordinary)
      for (const exchange of exchanges) expectAnswer(exchange, (answer) => singleOutcome(answer) !== 'fatal')
    },
  },
  {
    ...must('malformed.error', '§2.3, §7.1'),
    title: 'The answer to a refused message is an object with a text as error.',
    consequence: 'Failed Actions lists the message without a reason, so nobody can correct the cause.',
    remedy: 'Answer {"error": "…"} with a sentence that names the wrong member, also for errors of your framework.',
    judge: ({ ordinary, exchanges }) => {
      delivered(ordinary)
      expectErrors(exchanges)
    },
  },
  {
    ...decision('malformed.status', '§7.1', 43),
    title: 'A malformed message is answered 400.',
    consequence: 'A developer cannot tell a malformed record from a refusal by policy.',
    remedy: 'Answer 400 for a malformed record, and 422 for a well-formed message that cannot be delivered.',
    judge: ({ ordinary, exchanges }) => {
      delivered(ordinary)
      for (const exchange of exchanges) {
        if (isUnanswered(exchange)) throw new NotJudged(`${exchange.label}: no answer (malformed.final)`)
        if (singleOutcome(answerOf(exchange)) !== 'failed')
          throw new NotJudged(`${exchange.label}: not refused with 4xx`)
        expectAnswer(exchange, ({ status }) => status === 400)
      }
    },
  },
])

/** @throws Failed if a refusal has no error record. Other checks judge answers that are no refusal, and closed connections. */
function expectErrors(exchanges: readonly Exchange[]): void {
  const answered = exchanges.filter((exchange) => !isUnanswered(exchange))
  const refusals = answered.filter((exchange) => singleOutcome(answerOf(exchange)) !== 'successful')
  if (refusals.length === 0) throw new NotJudged('no message was refused')
  for (const exchange of refusals) expectAnswer(exchange, (answer) => errorOf(answer) !== undefined)
}

const blocked: Scenario<Compared> = {
  ...compare(({ single, make }) => single('a message to the blocked user', make.message({ user: 'blocked' }))),
  needs: ['blocked user'],
}

const blockedChecks = checksOf(blocked, [
  {
    ...should('blocked.single', '§2.5, §7.1'),
    title: 'A message to a blocked user is refused with a status from 400 to 499.',
    consequence:
      'A self-excluded player receives a promotion: regulators fine that (the UK Gambling Commission in May 2023: £490,000). With 5xx the platform repeats the message without end.',
    remedy:
      'Ask the source that answers reconciliation right before each delivery, and refuse with 422 and an error record.',
    judge: ({ ordinary, special }) => {
      delivered(ordinary)
      const answer = answerOf(special)
      expect(singleOutcome(answer) === 'failed', shownAnswer(answer))
    },
  },
  {
    ...must('blocked.error', '§2.3, §7.1'),
    title: 'The answer to a refused message to a blocked user is an object with a text as error.',
    consequence: 'Failed Actions lists the message without a reason: nobody can tell a blocked user from a fault.',
    remedy: 'Answer {"error": "…"} with a sentence that gives the reason.',
    judge: ({ ordinary, special }) => {
      delivered(ordinary)
      if (singleOutcome(answerOf(special)) === 'successful') throw new NotJudged('not refused (blocked.single)')
      expectErrors([special])
    },
  },
  {
    ...decision('blocked.status', '§7.1', 43),
    title: 'A message to a blocked user is answered 422.',
    consequence:
      'After many answers 401, 403, 404 or 405 a platform takes the key or the address to be wrong, and pauses.',
    remedy: 'Answer 422 for a well-formed message that must not be delivered.',
    judge: ({ ordinary, special }) => {
      delivered(ordinary)
      const answer = answerOf(special)
      if (singleOutcome(answer) !== 'failed') throw new NotJudged('not refused with 4xx (blocked.single)')
      expect(answer.status === 422, shownAnswer(answer))
    },
  },
])

const withoutDevice: Scenario<Compared> = {
  ...compare(({ single, make }) =>
    single('a push to the user without a device', make.message({ user: 'withoutDevice' })),
  ),
  except: ({ channel }) => channel !== 'push',
  needs: ['user without device'],
}

const withoutDeviceCheck = checkOf(withoutDevice, {
  ...should('no-device.single', '§7.1'),
  title: 'A push to a user without a device is refused with a status from 400 to 499.',
  consequence:
    'With 5xx the platform repeats the push without end. With 2xx it counts the push as delivered, although nobody received it.',
  remedy: 'Answer 422 with an error record.',
  judge: ({ ordinary, special }) => {
    delivered(ordinary)
    const answer = answerOf(special)
    expect(singleOutcome(answer) === 'failed', excerpt(shownAnswer(answer)))
  },
})

export const singleOutcomeChecks: readonly Check[] = [...malformedChecks, ...blockedChecks, withoutDeviceCheck]
