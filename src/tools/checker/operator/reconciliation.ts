// §2.5, §7.3: the lists of users.

import { type Check, checkOf, checksOf, decision, type JudgeContext, must, should } from '../check.ts'
import type { Answer, Exchange } from '../exchange.ts'
import { objectOf, refusesWith } from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import {
  answerOf,
  briefAnswer,
  excerpt,
  expect,
  expectAnswer,
  NotApplicable,
  NotJudged,
  shownAnswer,
} from '../verdict.ts'
import { expectContentType, expectJsonObject } from './shapes.ts'

/** The answer with a list. @throws NotApplicable if the operator need not list the field, NotJudged if it did not */
function answeredList(exchange: Exchange, { facts, target: { field } }: JudgeContext): Answer {
  if (field === facts.failingField) throw new NotApplicable('its list fails on purpose: reconciliation.error judges it')
  if (facts.fields && !facts.fields.includes(field)) throw new NotApplicable('not named among the fields with a source')
  const answer = answerOf(exchange)
  if (answer.status === 200) return answer
  if (!facts.fields && answer.status >= 400 && answer.status !== 503)
    throw new NotApplicable(
      `the operator lists no ${field} (status ${answer.status}). If it should, name it: --fields, or fields in the file`,
    )
  throw new NotJudged(`no list (${briefAnswer(answer)})`, true)
}

/** The members of a complete list. */
function listIn(exchange: Exchange, context: JudgeContext): Readonly<Record<string, unknown>> {
  const answer = answeredList(exchange, context)
  const fields = objectOf(answer)
  if (!fields) throw new NotJudged('the body is not a JSON object (reconciliation.json)')
  if (fields.error !== undefined && fields.error !== null)
    throw new NotJudged(`the operator reported an error (${briefAnswer(answer)})`, true)
  return fields
}

function usersIn(exchange: Exchange, context: JudgeContext): readonly unknown[] {
  const { users } = listIn(exchange, context)
  if (Array.isArray(users)) return users
  throw new NotJudged('users is not an array (reconciliation.users)')
}

/** The users whose value of the field is known to be `value`. */
function knownUsers({ facts: { known }, target: { field } }: JudgeContext, value: boolean): readonly string[] {
  const users = Object.entries(known).filter(([, values]) => values[field] === value)
  if (users.length === 0) throw new NotApplicable(`no user is known whose ${field} is ${value}`)
  return users.map(([user]) => user)
}

const utc = /^(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?(?:Z|[+-]00(?::?00)?)$/

/** Reads a date-time of ISO 8601 in UTC, in the extended or the basic format. @returns epoch milliseconds, in whole seconds */
function readUtc(timestamp: unknown): number | undefined {
  const found = typeof timestamp === 'string' ? utc.exec(timestamp) : null
  if (!found) return undefined
  const [, year, month, day, hour, minute, second = '00'] = found
  // Date.parse() knows no leap second.
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second === '60' ? '59' : second}Z`)
  return Number.isNaN(at) ? undefined : at
}

const oneList = {
  scope: 'field',
  messages: 0,
  run: (sender: Sender) => sender.list(`the list of ${sender.target.field}`, sender.target.field),
} as const

const listChecks = checksOf(oneList, [
  {
    ...must('reconciliation.source', '§2.5'),
    title: 'A field that the operator can list is answered 200 with a list.',
    consequence: 'The platform cannot compare the field: discrepancies stay, and it messages users whom it should not.',
    remedy: 'Answer {"users": […], "timestamp": "…"} for this field, or agree with the platform that it has no source.',
    judge: (exchange, context) => {
      const { facts, target } = context
      if (target.field === facts.failingField || !facts.fields?.includes(target.field)) {
        answeredList(exchange, context)
        return
      }
      const answer = answerOf(exchange)
      if (answer.status !== 501 && answer.status >= 500)
        throw new NotJudged(`no list now (${briefAnswer(answer)})`, true)
      expect(answer.status === 200, shownAnswer(answer))
    },
  },
  {
    ...must('reconciliation.json', '§2.5, §4'),
    title: 'The answer is one complete JSON object.',
    consequence: 'The platform discards the list.',
    remedy: 'Close the array and the object when the last user is written, also after an error: §7.3 has its form.',
    judge: (exchange, context) => {
      const answer = answeredList(exchange, context)
      expect(answer.complete, `The connection ended inside the body: …${answer.body.slice(-80)}`)
      expectJsonObject(answer)
    },
  },
  {
    ...must('reconciliation.users', '§2.5'),
    title: 'users is an array of texts.',
    consequence: 'A number loses digits or leading zeros, so the platform compares another user, or discards the list.',
    remedy: 'Write each user id as a JSON text, as in activity.user_id.',
    judge: (exchange, context) => {
      const { users } = listIn(exchange, context)
      expect(Array.isArray(users), `users is ${excerpt(JSON.stringify(users) ?? 'missing', 80)}.`)
      const wrong: unknown = users.find((user) => typeof user !== 'string')
      expect(wrong === undefined, `users contains ${JSON.stringify(wrong)}.`)
    },
  },
  {
    ...must('reconciliation.timestamp', '§2.5'),
    title: 'timestamp is an ISO 8601 date-time in UTC.',
    consequence:
      'The platform does not know the time of the data: it discards the list, or reports changes of the last hours as discrepancies.',
    remedy: 'Write the time of the data as 2020-01-01T10:00:00Z.',
    judge: (exchange, context) => {
      const { timestamp } = listIn(exchange, context)
      expect(readUtc(timestamp) !== undefined, `timestamp is ${excerpt(JSON.stringify(timestamp) ?? 'missing', 80)}.`)
    },
  },
  {
    ...should('reconciliation.time', '§2.5'),
    title: 'timestamp is not in the future.',
    consequence:
      'The platform judges changes that the list cannot contain yet, and reports discrepancies that do not exist.',
    remedy: 'Take the time before the query begins. Check the clock and the time zone of the server.',
    judge: (exchange, context) => {
      const { timestamp } = listIn(exchange, context)
      const at = readUtc(timestamp)
      if (at === undefined) throw new NotJudged('timestamp cannot be read (reconciliation.timestamp)')
      const ahead = Math.round((at - exchange.startedAt - exchange.ms) / 1000)
      expect(ahead <= 60, `timestamp is ${timestamp}, ${ahead} s in the future.`)
    },
  },
  {
    ...decision('reconciliation.ids', '§2.5', 52),
    title: 'No user is twice in the list, and no id is empty.',
    consequence: 'Bellwire’s platform discards the list: its source has a fault that may hide others.',
    remedy: 'Select distinct ids that are not empty.',
    judge: (exchange, context) => {
      const seen = new Set<unknown>()
      for (const user of usersIn(exchange, context)) {
        expect(user !== '', 'users contains an empty id.')
        expect(!seen.has(user), `${JSON.stringify(user)} is more than once in users.`)
        seen.add(user)
      }
    },
  },
  {
    ...should('reconciliation.content-type', '§4'),
    title: 'The answer with a list has the content type application/json.',
    consequence: 'HTTP clients that choose a parser by the content type discard the list.',
    remedy: 'Send Content-Type: application/json with every answer.',
    judge: (exchange, context) => expectContentType(answeredList(exchange, context)),
  },
  {
    ...must('reconciliation.true', '§1.3, §2.5'),
    needs: ['known users'],
    title: 'The list contains the users for whom the field is true.',
    consequence: 'The platform takes a blocked or excluded user for active, and goes on messaging.',
    remedy:
      'Compare the query of this field with the user’s row. Check paging, replicas that lag, and the brand of the key.',
    judge: (exchange, context) => {
      const expected = knownUsers(context, true)
      const users = new Set(usersIn(exchange, context))
      const missing = expected.filter((user) => !users.has(user))
      expect(missing.length === 0, `Missing in a list of ${users.size}: ${missing.join(', ')}`)
    },
  },
  {
    ...must('reconciliation.only-true', '§2.5, §4.1'),
    title: 'The list contains only users for whom the field is true.',
    consequence: 'The platform blocks active users, or messages users who have withdrawn their consent.',
    remedy: 'Filter by the requested field. A user whose value is unknown is not in the list.',
    judge: (exchange, context) => {
      const unexpected = knownUsers(context, false)
      const users = new Set(usersIn(exchange, context))
      const wrong = unexpected.filter((user) => users.has(user))
      expect(wrong.length === 0, `In the list, although the value is false: ${wrong.join(', ')}`)
    },
  },
  {
    ...should('reconciliation.no-source', '§7.3', 16),
    needs: ['all fields named'],
    title: 'A field without a source is never answered with a list.',
    consequence: 'An empty list says that no user is blocked: the platform clears the attribute of all its users.',
    remedy: 'Answer 501 {"error": "…"} for fields that you cannot list.',
    judge: (exchange, { facts, target: { field } }) => {
      if (facts.fields?.includes(field) || field === facts.failingField)
        throw new NotApplicable('the field has a source')
      expectNoList(exchange)
    },
  },
])

function expectNoList(exchange: Exchange): void {
  expectAnswer(exchange, (answer) => objectOf(answer)?.users === undefined)
}

/** The second one looks like a field, the third one is a member of each object in JavaScript. */
const unknownFields = ['bellwire_check', 'consent_bellwire_check', 'constructor']

const unknownField = {
  scope: 'reconciliation',
  messages: 0,
  run: async (sender: Sender): Promise<readonly Exchange[]> => {
    const exchanges: Exchange[] = []
    for (const field of unknownFields) exchanges.push(await sender.list(`the unknown field ${field}`, field))
    return exchanges
  },
} as const

const unknownFieldChecks = checksOf(unknownField, [
  {
    ...should('reconciliation.unknown-field', '§7.3', 16),
    title: 'An unknown field is never answered with a list.',
    consequence:
      'A misspelt field looks like a list without users, and the platform clears the attribute of all its users.',
    remedy: 'Accept only the fields of §2.5, and refuse any other.',
    judge: (exchanges) => {
      for (const exchange of exchanges) expectNoList(exchange)
    },
  },
  {
    ...should('reconciliation.not-implemented', '§7.3', 16),
    vendor: true,
    title: 'An unknown field is answered 501 with a text as error.',
    consequence:
      'The vendor’s guide defines 501: with another status the platform repeats the request, or raises an alert.',
    remedy: 'Answer 501 {"error": "…"}.',
    judge: (exchanges) => {
      for (const exchange of exchanges) {
        if (objectOf(answerOf(exchange))?.users !== undefined)
          throw new NotJudged('answered with a list (reconciliation.unknown-field)')
        expectAnswer(exchange, (answer) => refusesWith(501, answer))
      }
    },
  },
])

const unreadable = {
  scope: 'reconciliation',
  messages: 0,
  run: async (sender: Sender): Promise<readonly Exchange[]> => [
    await sender.send('a body that is not JSON', '{"field":'),
    await sender.send('a body without field', '{}'),
    await sender.send('a field that is an array', '{"field":["blocked"]}'),
    await sender.send('a body that is null', 'null'),
  ],
} as const

const unreadableCheck = checkOf(unreadable, {
  ...decision('reconciliation.unreadable', '§2.5', 16),
  title: 'A request without a readable field is answered 400 with a text as error.',
  consequence: 'A list for an unreadable request is the list of a field that nobody asked for.',
  remedy: 'Answer 400 {"error": "…"}; have no default field.',
  judge: (exchanges) => {
    for (const exchange of exchanges) expectAnswer(exchange, (answer) => refusesWith(400, answer))
  },
})

export const reconciliationChecks: readonly Check[] = [...listChecks, ...unknownFieldChecks, unreadableCheck]
