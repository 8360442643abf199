// §2.5, §7.3: the requests of a platform for lists, and its use of the answers.

import { clock } from '../../../base/runtime/clock.ts'
import { type Check, checksOf, decision, must, type Scenario, should } from '../check.ts'
import { expect, NotJudged } from '../verdict.ts'
import type { Lane } from './lane.ts'
import { status } from './replies.ts'
import { isObject, type PlatformRequest, type Reply } from './request.ts'

interface ListTrial {
  readonly requests: readonly PlatformRequest[]
  /** Whether the platform used the list. */
  readonly accepted: boolean
}

const lists = {
  scope: 'reconciliation',
  needs: ['reconciliation of the platform'],
  messages: 0,
  run: async ({ facts, list }) => {
    const user = JSON.stringify(facts.users.normal)
    const timestamp = new Date(clock.now()).toISOString()
    const good = `{"users":[${user}],"timestamp":"${timestamp}"}`
    const otherLayout = String.raw`{ "timestamp": "${timestamp}", "\u0075sers": [ ${user} ] }`
    const streamed: Reply = { ...status(200, 'successful', good), streamMs: facts.pace.slow }
    const error = status(200, 'retry', `{"users":[${user}],"error":"the source failed, a test of bellwire check"}`)
    const cut: Reply = { ...status(200, 'retry', good), cut: 'body' }
    return {
      streamed: await list(streamed),
      layout: await list(status(200, 'successful', otherLayout)),
      error: await list(error),
      cut: await list(cut),
    }
  },
} satisfies Scenario<unknown, Lane>

/** @throws NotJudged if no request arrived */
function arrived({ requests }: ListTrial): readonly PlatformRequest[] {
  if (requests.length === 0) throw new NotJudged('no request for a list arrived')
  return requests
}

export const reconciliationChecks: readonly Check<Lane>[] = checksOf(lists, [
  {
    ...must('list.request', '§2.5, §4.1'),
    title: 'A list is requested with POST /reconciliation and the body {"field": "blocked"}.',
    consequence: 'The operator cannot tell which list is wanted, and refuses the request.',
    remedy: 'Send POST {base_url}/reconciliation with the name of one field of §2.5.',
    judge: (trials) => {
      for (const { label, method, value, body } of Object.values(trials).flatMap(arrived))
        expect(
          method === 'POST' && isObject(value) && value.field === 'blocked',
          `${label}: ${method} ${body.slice(0, 100)}`,
        )
    },
  },
  {
    ...decision('list.key', '§5.3', 15),
    title: 'A request for a list has the API key of the operator in the header X-Api-Key.',
    consequence: 'An operator that protects its lists refuses the request.',
    remedy: 'Send the same key as with messages.',
    judge: (trials) => {
      for (const { label, key } of Object.values(trials).flatMap(arrived))
        expect(key === 'right', `${label}: ${key === 'none' ? 'no header X-Api-Key' : 'another API key'}`)
    },
  },
  {
    ...must('list.streamed', '§2.5, §8.3'),
    title: 'A list that arrives in two pieces, seconds apart, is used.',
    consequence: 'Large lists are never compared, because operators stream them.',
    remedy:
      'Read the body to its end, however it is divided, with a timeout for silence instead of one for the whole answer.',
    judge: ({ streamed }) => {
      arrived(streamed)
      expect(streamed.accepted, 'the platform refused a correct list that arrived in two pieces')
    },
  },
  {
    ...must('list.layout', '§2.5, §4'),
    title: 'The order of members, white space and escapes in a list make no difference.',
    consequence: 'The lists of some operators are never compared, although they are correct.',
    remedy: 'Read the list with a JSON parser. The timestamp may come before the users.',
    judge: ({ layout }) => {
      arrived(layout)
      expect(layout.accepted, 'the platform refused a correct list that begins with the timestamp')
    },
  },
  {
    ...must('list.error', '§7.3'),
    title: 'A list with an error in its body is not used, although its status is 200.',
    consequence:
      'An incomplete list counts as complete: the platform takes blocked users for active, and goes on messaging.',
    remedy: 'Look for the member error before you use the list, and discard the list if it is there.',
    judge: ({ error }) => {
      arrived(error)
      expect(!error.accepted, 'the platform used a list with {"error": "the source failed…"}')
    },
  },
  {
    ...should('list.cut', '§2.5, §8.3'),
    title: 'A list whose connection ends in the middle is not used.',
    consequence:
      'An incomplete list counts as complete: the platform takes blocked users for active, and goes on messaging.',
    remedy: 'Use a list only if the body is complete JSON and Content-Length or the last chunk has arrived.',
    judge: ({ cut }) => {
      arrived(cut)
      expect(!cut.accepted, 'the platform used a list that was cut')
    },
  },
])
