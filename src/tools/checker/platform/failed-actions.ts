// §6.4, §7: Failed Actions, by an export of the platform.

import { clock } from '../../../base/runtime/clock.ts'
import { sleep } from '../../../base/runtime/sleep.ts'
import { type Check, checksOf, must, type Scenario, should } from '../check.ts'
import type { Message } from '../messages.ts'
import { expect, NotApplicable, NotJudged } from '../verdict.ts'
import { givenIn, type Lane, type Trace } from './lane.ts'
import { outcomes } from './replies.ts'

const pollMs = 500
const lists = (text: string, { idJson }: Pick<Message, 'idJson'>): boolean =>
  new RegExp(`(?<!\\d)${idJson}(?!\\d)`).test(text)

/** An export may have the answers of the checker as evidence, as JSON, in JSON or in CSV. They name other messages too. */
function withoutAnswers(text: string, trace: Trace): string {
  const bodies = new Set(trace.ofRun().flatMap(({ reply: { body = '' } }) => (body === '' ? [] : [body])))
  const written = [...bodies].flatMap((body) => [body, JSON.stringify(body).slice(1, -1), body.replaceAll('"', '""')])
  return written.reduce((rest, each) => rest.replaceAll(each, ''), text)
}

const failedActions = {
  scope: 'send',
  needs: ['export of Failed Actions'],
  messages: 6,
  run: async ({ facts, target, make, play }) => {
    const [failed, fatal, delivered] = [0, 1, 2].map(() => [make.message(), make.message()]) as [
      Message[],
      Message[],
      Message[],
    ]
    // Never enqueued, but under failed in each answer to a batch.
    const unknown = { idJson: make.nextId() }
    const trace = await play({
      records: [...delivered, ...failed, ...fatal],
      reply: (open) => {
        const reply = outcomes(target, open, ({ record, attempt }) =>
          failed.includes(record) ? 'failed' : fatal.includes(record) && attempt === 1 ? 'fatal' : 'successful',
        )
        const stray = `{"id":${unknown.idJson},"error":"a message that was not in the batch"}`
        const body = reply.body?.replace(
          /"failed":\[(?=(.))/,
          (list, next) => `${list}${stray}${next === ']' ? '' : ','}`,
        )
        return { ...reply, ...(body !== undefined && { body }) }
      },
    })
    const read = facts.failedActions as () => Promise<string>
    // Any text with the ids of the failed messages.
    let text = await read()
    const until = clock.monotonic() + facts.pace.patience
    for (; clock.monotonic() < until && !failed.every((record) => lists(text, record)); text = await read())
      await sleep(pollMs)
    return { trace, failed, others: [...fatal, ...delivered], unknown, text: withoutAnswers(text, trace) }
  },
} satisfies Scenario<unknown, Lane>

export const failedActionChecks: readonly Check<Lane>[] = checksOf(failedActions, [
  {
    ...must('failed-actions.listed', '§6.4, §7.1, §7.2'),
    title: 'A failed message is in Failed Actions.',
    consequence: 'Nobody sees that a message was refused, so nobody corrects the cause.',
    remedy: 'Pass each message with a 4xx, and each one in failed, to Failed Actions with its id and its error.',
    judge: ({ trace, failed, text }) => {
      const refused = failed.filter((record) =>
        trace.of(record).some((request) => givenIn(request, record) === 'failed'),
      )
      if (refused.length === 0) throw new NotJudged('no message was failed')
      const missing = refused.find((record) => !lists(text, record))
      expect(
        missing === undefined,
        `the failed message ${missing?.idJson} is not in the export of ${text.length} characters`,
      )
    },
  },
  {
    ...must('failed-actions.only', '§6.4, §7.1, §7.2'),
    title: 'A message that was delivered, or that was fatal and delivered later, is not in Failed Actions.',
    consequence: 'A person replays messages that were delivered, and users get them twice.',
    remedy: 'Pass only messages with a final refusal to Failed Actions, and no message that is repeated.',
    judge: ({ others, text }) => {
      const wrong = others.find((record) => lists(text, record))
      expect(wrong === undefined, `the delivered message ${wrong?.idJson} is in the export`)
    },
  },
  {
    ...should('failed-actions.unknown', '§2.4, §6.4', 10),
    title: 'A message that was never sent, but is under failed in an answer, is not in Failed Actions.',
    consequence: 'A person looks for a message that does not exist, or dismisses one of another operator.',
    remedy: 'Go through the messages that were sent, not through the answer, and ignore unknown ids.',
    judge: ({ unknown, text }, { target: { mode } }) => {
      if (mode === 'single') throw new NotApplicable('the answer to a single message has no ids')
      expect(!lists(text, unknown), `the unknown id ${unknown.idJson} is in the export`)
    },
  },
])
