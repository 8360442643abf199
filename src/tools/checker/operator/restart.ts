// §7.1: a restart of the operator.

import { type Check, checksOf, type Scenario, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import { identifierIn, identifierOfSingle, objectOf, singleOutcome } from '../read-answer.ts'
import { answerOf, expect, Failed, shownAnswer } from '../verdict.ts'
import { expectSameIdentifier } from './duplicates.ts'

const mostDuringRestart = 100

const restart = {
  scope: 'once',
  needs: ['restart'],
  messages: mostDuringRestart + 2,
  run: async (sender) => {
    const message = sender.make.message()
    const before = await sender.single('a message', message)
    const during: Exchange[] = []
    let restarted = false
    const restarting = sender.facts.restart?.().finally(() => {
      restarted = true
    })
    restarting?.catch(() => {}) // awaited below
    while (during.length < mostDuringRestart) {
      const wasRestarted = restarted
      const exchange = await sender.single('the same message while the operator restarts', message, { mayBeLost: true })
      during.push(exchange)
      if (wasRestarted && exchange.answer && singleOutcome(exchange.answer) === 'successful') break
      await sender.pause(sender.facts.pace.retryPause)
    }
    await restarting
    return { before, during, after: await sender.single('the same message after the restart', message) }
  },
} satisfies Scenario<unknown>

export const restartChecks: readonly Check[] = checksOf(restart, [
  {
    ...should('restart.identifier', '§7.1', 29),
    title: 'A message that was delivered before a restart keeps its identifier after it.',
    consequence: 'Every deployment delivers messages twice, because the platform repeats those that were in flight.',
    remedy: 'Store identifiers on disk before you answer, not in memory.',
    judge: ({ before, after }, { target: { channel } }) => {
      const identifier = identifierOfSingle(before, channel)
      const answer = answerOf(after)
      if (singleOutcome(answer) !== 'successful') throw new Failed(`After the restart: ${shownAnswer(answer)}`)
      expectSameIdentifier(identifier, identifierIn(objectOf(answer), channel) ?? 'none')
    },
  },
  {
    ...should('restart.no-refusal', '§7.1'),
    title: 'No message is refused with a status from 400 to 499 while the operator restarts.',
    consequence: 'Every deployment drops messages, because the platform does not repeat them after 4xx.',
    remedy:
      'Let your proxy answer 503 while the operator is away. Accept requests only when all routes and keys are loaded.',
    judge: ({ before, during }, { target: { channel } }) => {
      identifierOfSingle(before, channel)
      const refusal = during.find(({ answer }) => answer && singleOutcome(answer) === 'failed')
      expect(!refusal?.answer, refusal?.answer ? shownAnswer(refusal.answer) : '')
    },
  },
])
