// §6.4, §7: Failed Actions, by an export of the platform.

import { clock } from '../../runtime/clock.ts'
import { type Check, checksOf, type Scenario } from '../check.ts'
import { pause } from '../http-client.ts'
import type { Message } from '../messages.ts'
import { expect, NotJudged } from '../verdict.ts'
import { givenIn, type Lane, type Trace } from './lane.ts'
import { outcomes } from './replies.ts'

interface Exported {
  readonly trace: Trace
  readonly failed: readonly Message[]
  readonly others: readonly Message[]
  /** The export of the platform: any text with the ids of the failed messages. */
  readonly text: string
}

const pollMs = 500
const lists = (text: string, { idJson }: Message): boolean => new RegExp(`(?<!\\d)${idJson}(?!\\d)`).test(text)

const failedActions: Scenario<Exported, Lane> = {
  scope: 'send',
  needs: ['export of Failed Actions'],
  messages: 6,
  run: async ({ facts, target, make, play }) => {
    const [failed, fatal, delivered] = [0, 1, 2].map(() => [make.message(), make.message()]) as [
      Message[],
      Message[],
      Message[],
    ]
    const trace = await play({
      records: [...delivered, ...failed, ...fatal],
      reply: (open) =>
        outcomes(target, open, ({ record, attempt }) =>
          failed.includes(record) ? 'failed' : fatal.includes(record) && attempt === 1 ? 'fatal' : 'successful',
        ),
    })
    const read = facts.failedActions as () => Promise<string>
    let text = await read()
    const until = clock.monotonic() + facts.pace.patience
    for (; clock.monotonic() < until && !failed.every((record) => lists(text, record)); text = await read())
      await pause(pollMs)
    return { trace, failed, others: [...fatal, ...delivered], text }
  },
}

export const failedActionChecks: readonly Check<Lane>[] = checksOf(failedActions, [
  {
    id: 'failed-actions.listed',
    section: '§6.4, §7.1, §7.2',
    level: 'must',
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
    id: 'failed-actions.only',
    section: '§6.4, §7.1, §7.2',
    level: 'must',
    title: 'A message that was delivered, or that was fatal and delivered later, is not in Failed Actions.',
    consequence: 'A person replays messages that were delivered, and users get them twice.',
    remedy: 'Pass only messages with a final refusal to Failed Actions, and no message that is repeated.',
    judge: ({ others, text }) => {
      const wrong = others.find((record) => lists(text, record))
      expect(wrong === undefined, `the delivered message ${wrong?.idJson} is in the export`)
    },
  },
])
