// §7.1: the reaction of a platform to the status of a single message.

import { type Check, checksOf, must, type Scenario } from '../check.ts'
import type { Message } from '../messages.ts'
import { expectOnce } from './arrivals.ts'
import { answered, expectRetried } from './expect-retried.ts'
import type { Lane } from './lane.ts'
import { status, success } from './replies.ts'
import type { ReceivedMessage } from './request.ts'

const good = [200, 201, 204, 299]
const refused = [400, 408, 410, 422, 429, 499]
/** The first answers to a message. */
const retried = [
  [500, 503, 302],
  [501, 304],
]
const isRetried = answered((code) => retried.flat().includes(code))

const singleStatuses = {
  scope: 'single',
  messages: good.length + refused.length + retried.length,
  run: async ({ target: { channel }, make, play }) => {
    const byStatus = new Map([...good, ...refused].map((code) => [code, make.message()]))
    const repeated = retried.map(() => make.message())
    const codeOf = ({ record, attempt }: ReceivedMessage): number => {
      const codes = retried[repeated.indexOf(record)]
      if (codes) return codes[attempt - 1] ?? 200
      return [...byStatus].find(([, each]) => each === record)?.[0] ?? 200
    }
    const trace = await play({
      records: [...byStatus.values(), ...repeated],
      reply: ({ messages: [message] }) => {
        if (!message) return status(400, 'retry')
        const code = codeOf(message)
        if (code === 204) return status(204, 'successful', '')
        if (code < 300) return status(code, 'successful', success(channel, message))
        if (code >= 400 && code < 500) return status(code, 'failed')
        return status(code, 'retry', undefined, code === 302 ? { location: '/elsewhere' } : {})
      },
    })
    const of = (codes: readonly number[]): readonly Message[] => codes.flatMap((code) => byStatus.get(code) ?? [])
    return { trace, delivered: of(good), failed: of(refused), repeated }
  },
} satisfies Scenario<unknown, Lane>

export const singleStatusChecks: readonly Check<Lane>[] = checksOf(singleStatuses, [
  {
    ...must('single.2xx', '§4.1, §7.1'),
    ofRun: true,
    title: 'A single message that is answered with a status from 200 to 299 is not sent again.',
    consequence: 'The user gets the message again and again.',
    remedy: 'Count every status from 200 to 299 as delivered, also without a body.',
    judge: ({ trace, delivered }) => expectOnce(trace, 'successful', delivered),
  },
  {
    ...must('single.4xx', '§7.1'),
    ofRun: true,
    title: 'A single message that is answered with a status from 400 to 499 is not sent again.',
    consequence: 'The platform repeats messages that can never be delivered, and later messages wait behind them.',
    remedy: 'Skip the message, and pass it to Failed Actions.',
    judge: ({ trace, failed }) => expectOnce(trace, 'failed', failed),
  },
  {
    ...must('single.repeated', '§7.1'),
    title:
      'A single message is sent again after 500 and any other status that is neither 2xx nor 4xx, until it succeeds.',
    consequence: 'Messages are lost in every short disturbance of the operator.',
    remedy: 'Keep the message in the queue, and send it again after a pause. Do not follow redirects.',
    judge: ({ trace, repeated }) => expectRetried(trace, isRetried, repeated),
  },
])
