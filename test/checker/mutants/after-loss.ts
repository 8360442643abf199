// Faults with messages at once, after lost answers, and after restarts.

import { error, json } from '../plain-operator.ts'
import { isBatch, isSingle, type Mutant, whileRunning } from './mutant.ts'

const idsIn = (text: string): readonly string[] => [...text.matchAll(/"id":(\d+)/g)].map(([, id = '']) => id)

export const afterLossMutants: readonly Mutant[] = [
  {
    fault: 'answers 409 while a message is in flight',
    check: 'time.at-once',
    inFlight: true,
    also: ['time.cut-answer'],
    mutate: () =>
      whileRunning(isSingle, ({ text }, running) =>
        running.some((other) => other.text === text) ? error(409, 'already in progress') : undefined,
      ),
  },
  {
    fault: 'fails the messages of a batch that is in flight',
    check: 'time.batch-at-once',
    inFlight: true,
    also: ['time.timeout'],
    mutate: () =>
      whileRunning(isBatch, ({ text }, running) => {
        if (text === '[]' || !running.some((other) => other.text === text)) return undefined
        const failed = idsIn(text).map((id) => ({ id: Number(id), error: 'a duplicate' }))
        return json(200, { successful: [], failed, fatal: [] })
      }),
  },
  {
    fault: 'claims the messages of both modes apart',
    check: 'time.in-flight',
    inFlight: true,
    mutate: () => ({ rules: () => ({ inFlightKey: (of, mode) => mode + of }) }),
  },
  {
    fault: 'claims a message before its body is complete, and never releases it',
    check: 'time.cut-request',
    mutate: () => {
      const claimed = new Set<string>()
      return {
        onCut: (text) => {
          for (const id of idsIn(text)) claimed.add(id)
        },
        wrap: (next) => async (request) =>
          idsIn(request.text).some((id) => claimed.has(id)) ? error(503, 'in progress') : next(request),
      }
    },
  },
  {
    fault: 'never releases the claim of a message whose caller has gone',
    check: 'time.cut-answer',
    inFlight: true,
    mutate: () => keepsClaims(isSingle),
  },
  {
    fault: 'never releases the claims of a batch whose caller has gone',
    check: 'time.timeout',
    inFlight: true,
    mutate: () => keepsClaims(isBatch),
  },
  {
    fault: 'stores identifiers in memory',
    check: 'restart.identifier',
    mutate: () => ({ rules: () => ({ onDisk: false }) }),
  },
  {
    fault: 'answers 404 until its routes are loaded',
    check: 'restart.no-refusal',
    mutate: () => ({
      wrap: (next, _, restarts) => {
        const readyAt = performance.now() + (restarts > 0 ? 150 : 0)
        return async (request) => (performance.now() < readyAt ? error(404, 'no such path') : next(request))
      },
    }),
  },
]

/** Answers 503 for a request whose first caller closed the connection before the answer. */
function keepsClaims(applies: typeof isSingle): ReturnType<Mutant['mutate']> {
  const claimed = new Set<string>()
  return {
    wrap: (next) => async (request) => {
      if (!applies(request)) return next(request)
      if (claimed.has(request.text)) return isBatch(request) ? allFatal(request.text) : error(503, 'in progress')
      const answer = await next(request)
      if (request.closed.aborted) claimed.add(request.text)
      return answer
    },
  }
}

const allFatal = (text: string) =>
  json(200, { successful: [], failed: [], fatal: idsIn(text).map((id) => ({ id: Number(id), error: 'in progress' })) })
