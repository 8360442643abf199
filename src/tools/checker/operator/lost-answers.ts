// §7.1, §7.2: lost answers, slow callers, many messages at once.

import { type Check, checkOf, checksOf, type Scenario, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { Message } from '../messages.ts'
import {
  categoryOf,
  delivered,
  identifierOfItem,
  identifierOfSingle,
  isSuccess,
  processed,
  singleOutcome,
} from '../read-answer.ts'
import { attemptsIn } from '../sender.ts'
import { answerOf, expect, expectAnswer } from '../verdict.ts'
import { expectSameIdentifier } from './duplicates.ts'
import { expectAccepted } from './special-message.ts'

interface AfterLoss {
  readonly ordinary: Exchange
  readonly message: Message
  readonly again: Exchange
  readonly oncemore: Exchange
}

/** Sends a message whose answer the checker does not wait for, and then repeats it. */
const afterLoss = (after: 'half_body' | 'request'): Scenario<AfterLoss> => ({
  scope: 'single',
  messages: (facts) => 3 + attemptsIn(facts),
  run: async (sender) => {
    const message = sender.make.message()
    const ordinary = await sender.single('an ordinary message', sender.make.message())
    await sender.single('a message whose connection is cut', message, {
      abandon: { after, ms: sender.facts.pace.giveUp },
    })
    const again = await sender.singleUntilFinal('the same message again', message)
    return { ordinary, message, again, oncemore: await sender.single('the same message once more', message) }
  },
})

const cutRequest = afterLoss('half_body')
const cutAnswer = afterLoss('request')

const batchTimeout: Scenario<AfterLoss> = {
  scope: 'batch',
  messages: (facts) => 6 + 2 * attemptsIn(facts),
  run: async (sender) => {
    const messages = [sender.make.message(), sender.make.message()] as const
    const ordinary = await sender.batch('an ordinary batch', [sender.make.message(), sender.make.message()])
    const abandon = { after: 'request', ms: sender.facts.pace.giveUp } as const
    await sender.batch('a batch that times out', messages, { abandon })
    const again = await sender.batchUntilFinal('the same batch again', messages)
    return { ordinary, message: messages[0], again, oncemore: await sender.batch('the same batch once more', messages) }
  },
}

interface SlowWriter {
  readonly ordinary: Exchange
  readonly special: Exchange
  /** Sent while the body of `special` arrives. */
  readonly beside: Exchange
  /** Whether `beside` ended before the last piece of the slow body was sent. */
  readonly answeredBeside: boolean
}

const slowWriter: Scenario<SlowWriter> = {
  scope: 'single',
  messages: 3,
  run: async (sender) => {
    const ordinary = await sender.single('an ordinary message', sender.make.message())
    const { slow: writeOverMs, timeout, giveUp } = sender.facts.pace
    const besideEnded = Promise.withResolvers<void>()
    // The body waits for the other answer, so the verdict does not depend on the speed of the operator.
    let answeredBeside = true
    const lastPieceAfter = Promise.race([
      besideEnded.promise,
      sender.pause(timeout / 2).then(() => {
        answeredBeside = false
      }),
    ])
    const slow = sender.single('a body that arrives slowly', sender.make.message(), { writeOverMs, lastPieceAfter })
    await sender.pause(giveUp)
    const beside = await sender.single('a message beside a slow one', sender.make.message())
    besideEnded.resolve()
    return { ordinary, beside, answeredBeside, special: await slow }
  },
}

const burstSize = 20

const burst: Scenario<readonly Exchange[]> = {
  scope: 'single',
  messages: burstSize + 1,
  run: async (sender) => {
    const ordinary = await sender.single('an ordinary message', sender.make.message())
    const others = Array.from({ length: burstSize }, (_, n) =>
      sender.single(`message ${n + 1} of ${burstSize} at once`, sender.make.message()),
    )
    return [ordinary, ...(await Promise.all(others))]
  },
}

/** @throws Failed if a message cannot be repeated after its connection was cut */
function expectDelivered({ ordinary, again, oncemore }: AfterLoss): void {
  delivered(ordinary)
  for (const exchange of [again, oncemore]) expectAnswer(exchange, isSuccess)
}

/** @throws Failed if a message cannot be repeated after its answer was lost */
function expectRepeatable(seen: AfterLoss, channel: 'push' | 'site'): void {
  const { ordinary, again, oncemore } = seen
  identifierOfSingle(ordinary, channel)
  expectDelivered(seen)
  expectSameIdentifier(identifierOfSingle(again, channel), identifierOfSingle(oncemore, channel))
}

export const lostAnswerChecks: readonly Check[] = [
  checkOf(cutRequest, {
    ...should('time.cut-request', '§7.1'),
    title: 'A message whose request was cut in the middle is delivered when it is sent again.',
    consequence: 'A message is lost, or repeated without end, whenever a connection breaks.',
    remedy: 'Do nothing with a request before its whole body has arrived.',
    judge: expectDelivered,
  }),
  checkOf(cutAnswer, {
    ...should('time.cut-answer', '§7.1', 29),
    title:
      'A message whose connection was cut before the answer can be sent again, and has one identifier from then on.',
    consequence: 'A message is repeated without end, or delivered with each repetition, whenever a connection breaks.',
    remedy: 'Finish a delivery and store its result also if the caller has gone. Release a claim whose work has ended.',
    judge: (seen, { target: { channel } }) => expectRepeatable(seen, channel),
  }),
  checkOf(batchTimeout, {
    ...should('time.timeout', '§7.2', 29),
    title:
      'A batch whose answer the caller did not wait for can be sent again, and its messages have one identifier from then on.',
    consequence:
      'After a timeout of the platform, messages are repeated without end, or delivered with each repetition.',
    remedy:
      'Finish the batch and store its results also if the caller has gone. Answer repetitions with the stored results.',
    judge: ({ ordinary, message, again, oncemore }, { target: { channel } }) => {
      processed(ordinary)
      for (const exchange of [again, oncemore]) {
        const item = categoryOf(exchange, message, channel)
        expect(item.category === 'successful', `${exchange.label}: ${item.shown}`)
      }
      expectSameIdentifier(identifierOfItem(again, message, channel), identifierOfItem(oncemore, message, channel))
    },
  }),
  ...checksOf(slowWriter, [
    {
      ...should('time.slow-writer', '§7.1'),
      title: 'A message whose body arrives slowly is delivered.',
      consequence: 'With 408 a message is dropped because of a slow network.',
      remedy: 'Wait at least some seconds for the body. After that, close the connection or answer 503, never 4xx.',
      judge: expectAccepted,
    },
    {
      ...should('time.beside-slow', '§7.1'),
      title: 'A message is answered while the body of another one arrives slowly.',
      consequence: 'One slow connection stops all messages: the requests of the platform time out, and are repeated.',
      remedy: 'Serve each connection in a thread or task of its own, or put a proxy in front that buffers requests.',
      judge: ({ ordinary, special, beside, answeredBeside }) => {
        delivered(ordinary)
        delivered(special)
        answerOf(beside)
        expect(answeredBeside, `${beside.label}: answered only after the last piece of the slow body was sent`)
      },
    },
  ]),
  checkOf(burst, {
    ...should('time.burst', '§7.1, §8.1', 13),
    title: 'Of 20 messages at once, none is refused with a status from 400 to 499.',
    consequence: 'The platform drops a message after 429 as after any 4xx: whatever exceeds the limit is lost.',
    remedy: 'Let requests wait, or answer 503 with Retry-After. Agree rate limits with the platform beforehand.',
    judge: ([ordinary, ...others], { target: { channel } }) => {
      if (ordinary) identifierOfSingle(ordinary, channel)
      for (const exchange of others) expectAnswer(exchange, (answer) => singleOutcome(answer) !== 'failed')
    },
  }),
]
