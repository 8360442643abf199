// §4.1, §5.1: the five endpoints exist, and each accepts the key.

import { type Check, checksOf, must } from '../check.ts'
import type { Answer, Exchange } from '../exchange.ts'
import type { Sender } from '../sender.ts'
import { answerOf, expect, isUnanswered, NotApplicable, shownAnswer } from '../verdict.ts'

/** A request without a message, so that any answer shows only whether the endpoint exists and accepts the key. */
export function probe(sender: Sender): Promise<Exchange> {
  const { feature, mode } = sender.target
  const body = feature !== 'reconciliation' && mode === 'batch' ? '[]' : '{}'
  return sender.send('a request without a message', body)
}

/** Statuses of an endpoint that does not exist. */
export const isAbsent = (status: number): boolean => status === 404 || status === 405 || status === 501
export const isRefused = (status: number): boolean => status === 401 || status === 403

/** @throws NotApplicable if the operator closed the connection: that says nothing about the path or the key */
function probed(exchange: Exchange): Answer {
  if (isUnanswered(exchange))
    throw new NotApplicable(`${exchange.label}: ${exchange.lost?.detail}. The checks of malformed messages judge that`)
  return answerOf(exchange)
}

export const offeredCheck = 'endpoint.offered'
export const acceptedCheck = 'auth.accepted'

export const endpointChecks: readonly Check[] = checksOf({ scope: 'endpoint', messages: 0, run: probe }, [
  {
    ...must(offeredCheck, '§4.1'),
    title: 'The endpoint exists at its path and accepts POST.',
    consequence:
      'The platform calls the paths of §4.1. A single message is answered 404 and dropped; a batch is repeated without end.',
    remedy:
      'Serve POST at this path below the base URL. If it is not part of your agreement with the platform, name the endpoints that are: --features.',
    judge: (exchange) => {
      const answer = probed(exchange)
      expect(!isAbsent(answer.status), shownAnswer(answer))
    },
  },
  {
    ...must(acceptedCheck, '§5.1'),
    title: 'The endpoint accepts the same API key as the other endpoints.',
    consequence: 'The platform has one key. Single messages are refused and dropped; batches are repeated without end.',
    remedy: 'Compare the header X-Api-Key with the same key at every endpoint.',
    judge: (exchange) => {
      const answer = probed(exchange)
      expect(!isRefused(answer.status), `${shownAnswer(answer)}, although another endpoint accepted the key`)
    },
  },
])
