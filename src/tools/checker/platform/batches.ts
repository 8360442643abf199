// §4.1 rule 3, §8.2: the size of batches.

import { clock } from '../../../base/runtime/clock.ts'
import { type Check, checkOf, checksOf, must, type Scenario, should } from '../check.ts'
import { expect, NotJudged } from '../verdict.ts'
import type { Lane, Trace } from './lane.ts'

const bulk: Scenario<Trace, Lane> = {
  scope: 'batch',
  needs: ['batch maximum'],
  messages: ({ batchMax }) => 3 * batchMax + 3,
  run: ({ facts, make, play }) =>
    play({ records: Array.from({ length: 3 * facts.batchMax + 3 }, () => make.message()) }),
}

const bulkChecks = checksOf(bulk, [
  {
    ...must('batch.maximum', '§1.6, §8.2'),
    ofRun: true,
    title: 'A batch has at most the agreed number of messages.',
    consequence: 'The operator refuses the batch, and the platform repeats it without end.',
    remedy: 'Cut batches at the number that is configured for this operator, also when messages are repeated.',
    judge: ({ ofRun }, { facts: { batchMax } }) => {
      for (const { label, messages, strangers } of ofRun()) {
        const length = messages.length + strangers
        expect(length <= batchMax, `${label}: ${length} messages, agreed are ${batchMax}`)
      }
    },
  },
  {
    ...should('batch.full', '§4.1'),
    title: 'When enough messages wait, a batch has the configured number of messages.',
    consequence: 'The operator gets many small requests: a campaign takes hours, and rate limits are exceeded.',
    remedy:
      'Send a batch when the count is reached, and only otherwise after the time span. Configure the agreed count.',
    judge: ({ requests }, { facts: { batchMax } }) => {
      const largest = Math.max(...requests.map(({ messages }) => messages.length))
      expect(
        largest >= batchMax,
        `the largest batch has ${largest} messages, although ${3 * batchMax + 3} waited and ${batchMax} are agreed`,
      )
    },
  },
  {
    ...must('batch.rest', '§4.1'),
    title: 'An incomplete batch is sent after the time span.',
    consequence: 'The last messages of a campaign wait until another campaign begins.',
    remedy: 'Start a timer with the first message of each batch, and send the batch when it ends, whatever its size.',
    judge: (trace) => {
      const missing = trace.records.filter((record) => trace.of(record).length === 0)
      expect(
        missing.length === 0,
        `${missing.length} of ${trace.records.length} messages, less than a batch, were not sent`,
      )
    },
  },
  {
    ...should('batch.distinct', '§2.4, §4.1'),
    ofRun: true,
    title: 'A message is in a batch only once.',
    consequence:
      'The answer has one item for each id, so the outcome of the other copy is unknown, and it is repeated.',
    remedy: 'Remove a message from the queue of its lane when it enters a batch.',
    judge: ({ ofRun }) => {
      for (const { label, messages } of ofRun()) {
        const ids = messages.map(({ idJson }) => idJson)
        const twice = ids.find((id, place) => ids.indexOf(id) !== place)
        expect(twice === undefined, `${label}: message ${twice} is in it twice`)
      }
    },
  },
  {
    ...should('batch.empty', '§4.1', 36),
    ofRun: true,
    title: 'No batch is empty.',
    consequence: 'The operator gets requests without a purpose, day and night.',
    remedy: 'Send a batch after the time span only if a message waits.',
    judge: ({ ofRun }) => {
      for (const { label, value } of ofRun())
        expect(!Array.isArray(value) || value.length > 0, `${label}: an empty batch`)
    },
  },
])

const lone = {
  scope: 'batch',
  needs: ['time span'],
  messages: 1,
  async run({ make, play }) {
    let enqueuedAt: number | undefined
    const trace = await play({ records: [make.message()], onEnqueued: () => (enqueuedAt = clock.monotonic()) })
    if (enqueuedAt === undefined) throw new NotJudged('the record was not enqueued')
    return { trace, enqueuedAt }
  },
} satisfies Scenario<unknown, Lane>

/** For the way of the record into the queue, and for timers. */
const toleranceMs = 1_000

const spanCheck = checkOf(lone, {
  ...must('batch.span', '§4.1'),
  title: 'A message that waits alone is sent within the time span.',
  consequence: 'A login code or an offer arrives too late, whenever few messages are sent.',
  remedy: 'Measure the time span from the first message of the batch, and start no other wait before the request.',
  judge: ({ trace, enqueuedAt }, { facts: { batchSpan = 0 } }) => {
    const [first] = trace.requests
    const ms = Math.round((first?.at ?? enqueuedAt) - enqueuedAt)
    expect(
      ms <= batchSpan + toleranceMs,
      `${first?.label}: ${ms} ms after the record was enqueued; the time span is ${batchSpan} ms`,
    )
  },
})

export const batchChecks: readonly Check<Lane>[] = [...bulkChecks, spanCheck]
