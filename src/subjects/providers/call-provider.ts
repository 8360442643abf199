// One call of a provider: each message gets exactly one result, whatever the provider does. Whoever calls sets the limits: on the
// operator the guard (guard.ts), on the platform the lane (queue/lane/running-calls.ts).

import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { uuidv7 } from '../../base/runtime/ids.ts'
import { isTimeoutError } from '../../base/runtime/timeout-error.ts'
import type { Fatal } from '../../contract/outcome.ts'
import { refuseFatal } from '../../contract/refusals.ts'
import { recordCall } from './calls.ts'
import type { Message, Provider, Result, SendContext } from './provider.ts'
import { invalidResult, readResults, repeatResult } from './read-results.ts'

/** Grace period after the abort signal: then the answer of the provider is no longer awaited. */
const abortGraceMs = 200

/**
 * Calls a provider with at most `provider.max` messages. An exception, a wrong number of results, a malformed result or a call that
 * ignores its signal becomes fatal. The call is recorded: each result has its id, and the first result has its row in `writes`.
 *
 * @param context the signal aborts at the deadline with a TimeoutError, and with any other reason when the process is stopping
 * @example const results = await callProvider(provider, messages, { deadline, signal }) // never rejects
 */
export async function callProvider(
  provider: Provider,
  messages: readonly Message[],
  context: SendContext,
): Promise<readonly Result[]> {
  if (context.signal.aborted) return repeatResult(messages.length, stopping)
  const [startedAt, began] = [clock.now(), clock.monotonic()]
  const results = await sendOnce(provider, messages, context, startedAt)
  return addCall(provider, messages, results, { at: startedAt, ms: Math.round(clock.monotonic() - began) })
}

async function sendOnce(
  provider: Provider,
  messages: readonly Message[],
  context: SendContext,
  startedAt: number,
): Promise<Result[]> {
  const { deadline, signal } = context
  // A transactional provider has delivered nothing until its writes are committed.
  const uncertain = provider.transactional !== true
  const repeat = (result: Fatal): Result[] =>
    repeatResult(messages.length, uncertain ? { ...result, uncertain: true } : result)
  const ended = (): Result[] =>
    repeat(isTimeoutError(signal.reason) ? timedOut(provider, deadline - startedAt) : stopping)
  const gaveUp = Promise.withResolvers<undefined>()
  let grace: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    grace = clock.setTimeout(() => gaveUp.resolve(undefined), abortGraceMs)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const results = await Promise.race([provider.send(messages, context), gaveUp.promise])
    return results === undefined && signal.aborted ? ended() : readResults(results, messages.length, uncertain)
  } catch (error) {
    if (signal.aborted) return ended()
    const { message, stack = message } = error instanceof Error ? error : new Error(String(error))
    emit('provider.threw', { provider: provider.name, error: message, stack })
    return repeatResult(messages.length, invalidResult(message, messages.length, uncertain))
  } finally {
    clock.clearTimeout(grace)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Adds the id of the call to each result, and the row of the call to the first. */
function addCall(
  provider: Provider,
  messages: readonly Message[],
  results: readonly Result[],
  { at, ms }: { readonly at: number; readonly ms: number },
): Result[] {
  const id = uuidv7()
  let failed = 0
  let fatal = 0
  let decisive: Result | undefined
  for (const result of results) {
    if (result.category === 'successful') continue
    if (result.category === 'failed') failed++
    else fatal++
    decisive ??= result
  }
  const { rule } = decisive ?? (results[0] as Result)
  const error = decisive && decisive.category !== 'successful' ? decisive.error : undefined
  const answer = results[0]?.callAnswer ?? (decisive ?? results[0])?.answer ?? null
  const row = recordCall({
    id,
    provider: provider.name,
    at,
    ms,
    messages: messages.length,
    rule,
    answer,
    error: error ?? null,
  })
  emit('call.done', {
    provider: provider.name,
    messages: messages.length,
    ms,
    rule,
    fatal,
    failed,
    ...(error !== undefined && { error }),
  })
  return results.map((result, i) =>
    i === 0 ? { ...result, call: id, writes: [...(result.writes ?? []), row] } : { ...result, call: id },
  )
}

const timedOut = (provider: Provider, ms: number): Fatal =>
  refuseFatal('timed_out', { error: `${provider.name} did not answer within ${ms} ms` })

export const stopping = refuseFatal('stopping')
