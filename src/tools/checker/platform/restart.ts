// §7.1, §7.2: a restart of the platform.

import { clock } from '../../../base/runtime/clock.ts'
import { type Check, checksOf, must, type Scenario, should } from '../check.ts'
import { expect, NotJudged } from '../verdict.ts'
import type { Lane } from './lane.ts'
import { status, successful } from './replies.ts'

const records = 5

const restart = {
  scope: 'first',
  last: true,
  needs: ['restart'],
  messages: 2 * records,
  async run({ facts, target, make, play }) {
    const messages = () => Array.from({ length: records }, () => make.message())
    const delivered = await play({ records: messages() })
    const repeated = Promise.withResolvers<void>()
    let isRestarted = false
    // Answered only with errors before the restart, some of them twice.
    const playing = play({
      records: messages(),
      reply(open) {
        if (open.messages.some(({ attempt }) => attempt > 1)) repeated.resolve()
        return isRestarted ? successful(target, open) : status(503, 'retry')
      },
      isDone: ({ open }) => isRestarted && open.size === 0,
    })
    // The play ends by itself if the platform does not repeat.
    const ended = await Promise.race([repeated.promise, playing])
    if (ended) throw new NotJudged('no message came again before the restart, although each was answered 503')
    const restartedAt = clock.monotonic()
    try {
      await facts.restart?.()
    } finally {
      // The play ends, also if the restart failed. Until then, the platform can send.
      isRestarted = true
      await playing
    }
    return { delivered, waiting: await playing, restartedAt }
  },
} satisfies Scenario<unknown, Lane>

export const restartChecks: readonly Check<Lane>[] = checksOf(restart, [
  {
    ...must('restart.kept', '§7.1, §7.2'),
    title: 'Messages that wait for a repetition are sent after a restart of the platform.',
    consequence: 'Every deployment of the platform loses the messages that an operator could not take at that time.',
    remedy: 'Store each message on disk before you confirm it, and delete it only after its final outcome.',
    judge: ({ waiting }) =>
      expect(
        waiting.open.size === 0,
        `${waiting.open.size} of ${waiting.records.length} messages did not come after the restart, although each was answered 503 before`,
      ),
  },
  {
    ...should('restart.once', '§7.1, §7.2'),
    ofRun: true,
    title: 'Messages that were successful before a restart of the platform are not sent again.',
    consequence:
      'Every deployment of the platform sends messages twice, and users see them twice where the operator does not recognise them.',
    remedy: 'Store the outcome of each message on disk, soon after the answer.',
    judge: ({ delivered, restartedAt }) => {
      const again = delivered.requests.find(({ at }) => at >= restartedAt)
      expect(again === undefined, `${again?.label}: a message came again that was successful before the restart`)
    },
  },
])
