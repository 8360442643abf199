// The operator's API as a provider of the platform's lanes (§4.1, §5, §7).

import type { Dispatcher } from 'undici'
import { type AddressOptions, createCaller } from '../../base/http-client/caller.ts'
import type { Exchanged } from '../../base/http-client/exchange.ts'
import { TokenError } from '../../base/http-client/oauth2.ts'
import { anything, checkOptions } from '../../base/runtime/check-options.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { text, url } from '../../base/runtime/kinds.ts'
import { readBatchAnswer, readSingleAnswer } from '../../contract/answer.ts'
import { apiKeyHeaders, retryAfterHeader, sendPaths } from '../../contract/endpoints.ts'
import type { Fatal, Outcome } from '../../contract/outcome.ts'
import { shortened } from '../../contract/storable.ts'
import { checkOperator } from './check-operator.ts'
import { messageOf } from './lost.ts'
import type { Channel, Message, Provider, Result, SendContext } from './provider.ts'
import { trackingOf } from './tracking.ts'

export interface OperatorApiOptions extends AddressOptions {
  /** {base_url} of §4.1. It may have a path. */
  readonly url: string
  /** The token that the operator issued to the platform (§5.1). Required unless there is `auth`. */
  readonly apiKey?: string | undefined
  /** Creates the connections to an origin. Default: HTTP. A simulation has connections in memory. */
  readonly connect?: (origin: string) => Dispatcher
}

/** The properties of a lane that its provider needs. */
export interface LaneShape {
  readonly channel: Channel
  readonly mode: 'single' | 'batch'
  /** The configured number of messages in a request: the operator's batch maximum (§1.6). A person may change it at run time. */
  readonly max: number
  /** The configured number of requests in flight. A person may change it at run time. */
  readonly concurrency: number
}

/** The lane limits a batch further. */
const mostPerBatch = 1_000_000
const mostAnswerBytes = { single: 1024 * 1024, batch: 64 * 1024 * 1024 }

/**
 * The operator's API for one lane. The lane determines the channel, and whether messages are sent singly or in batches.
 *
 * @example
 * const lane: LaneOptions = {
 *   brand: '1',
 *   channel: 'push',
 *   mode: 'batch',
 *   provider: operatorApi({ url: 'https://operator.example', apiKey: 'the key that the operator issued' }),
 * }
 */
export function operatorApi(options: OperatorApiOptions): (lane: LaneShape) => Provider {
  const { auth, apiKey } = options
  const key = text({ help: '', secret: true, ...(auth !== undefined && apiKey === undefined && { optional: true }) })
  checkOptions('operatorApi', options, { ...connectionChecks, url: url({ help: '' }), apiKey: key, connect: anything })
  return (lane) => createOperatorApi(options, lane)
}

const connectionChecks = {
  auth: anything,
  proxy: anything,
  ca: anything,
  clientCertificate: anything,
  clientKey: anything,
}

/**
 * Sends the text of each message unchanged, alone or joined into a batch, and reads the answer by the rules of §7. The requests
 * have no timeout of their own: guard() aborts the signal.
 */
function createOperatorApi(options: OperatorApiOptions, lane: LaneShape): Provider {
  const { channel, mode } = lane
  const name = `operator-api ${new URL(options.url).host}`
  const jsonHeaders = { 'content-type': 'application/json', ...apiKeyHeaders(options.apiKey) }
  // The operator answers a repeated message as before. Without a limit of connections: the lane limits its calls.
  const caller = createCaller({ ...options, headers: jsonHeaders, repeatable: true })

  function post(body: string, headers: Record<string, string>, { signal }: SendContext): Promise<Exchanged> {
    return caller.call({ path: sendPaths[channel][mode], headers, body, most: mostAnswerBytes[mode], signal })
  }

  async function sendSingle(message: Message, context: SendContext): Promise<Outcome> {
    const exchanged = await post(message.text, { ...traceOf([message]), ...trackingOf(message) }, context)
    if ('lost' in exchanged) return lost(name, exchanged, context)
    return withStatus(readSingleAnswer({ channel, ...wireOf(exchanged) }), exchanged.status)
  }

  async function sendBatch(messages: readonly Message[], context: SendContext): Promise<readonly Result[]> {
    // The elements are joined as text, never parsed and serialized again.
    const exchanged = await post(`[${messages.map(({ text }) => text).join(',')}]`, traceOf(messages), context)
    if ('lost' in exchanged) return messages.map(() => lost(name, exchanged, context))
    if (exchanged.cut && exchanged.status === 200) return messages.map(() => tooLong)
    const wire = wireOf(exchanged)
    const read = readBatchAnswer({ channel, ids: messages.map(({ id }) => id), ...wire })
    for (const warning of read.warnings) emit('answer.warning', { provider: name, warning })
    const outcomes = read.outcomes.map((outcome) => withStatus(outcome, wire.status))
    const [first, ...others] = outcomes
    if (!first || first.answer !== undefined) return outcomes
    // An answer may have megabytes, so only its beginning is stored.
    const answer = beginning(wire.body)
    return [{ ...first, ...(others.length === 0 ? { answer } : { callAnswer: answer }) }, ...others]
  }

  return {
    name,
    max: mode === 'single' ? 1 : mostPerBatch,
    async send(messages, context) {
      if (mode === 'single') return Promise.all(messages.map((message) => sendSingle(message, context)))
      return sendBatch(messages, context)
    },
    check: () => checkOperator(caller, options.url, sendPaths[channel].batch, mode),
    // Several lanes may share the provider, and each of them closes it.
    close: caller.close,
  }
}

function withStatus(outcome: Outcome, status: number): Outcome {
  return outcome.category === 'successful' ? outcome : { ...outcome, status }
}

function wireOf({ status, headers, body }: Exclude<Exchanged, { lost: Error }>): {
  status: number
  body: Buffer
  retryAfter: string | undefined
  now: number
  location: unknown
} {
  const retryAfter = headers[retryAfterHeader]
  return {
    status,
    body,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    now: clock.now(),
    location: headers.location,
  }
}

/** The outcome without a complete answer (row 8). The connection is to blame, not a message, so the batch is not split. */
function lost(
  name: string,
  { lost: error, written }: Extract<Exchanged, { lost: Error }>,
  { deadline }: SendContext,
): Fatal {
  const late = clock.now() >= deadline
  return {
    category: 'fatal',
    reason: late ? 'timeout' : isOurFault(error) ? 'misconfigured' : 'unavailable',
    blame: 'provider',
    rule: `row 8: ${written ? 'answer lost' : 'no connection'}`,
    error: `${name}: ${late ? 'no answer in time' : messageOf(error)}`,
    ...(written ? { uncertain: true } : { unconnected: true }),
  }
}

const tooLong: Fatal = {
  category: 'fatal',
  reason: 'nonsense',
  blame: 'provider',
  uncertain: true,
  rule: '§2.4 unreadable',
  error: `the operator's answer is longer than ${mostAnswerBytes.batch} bytes`,
}

/** The certificate, or the credentials for an access token. */
const isOurFault = (error: Error & { readonly code?: string }): boolean =>
  error instanceof TokenError ? error.refused : /CERT|SELF_SIGNED|VERIFY/.test(error.code ?? '')

const beginning = (body: Buffer): string => shortened(body.subarray(0, 2_000).toString())

/** The trace header of a request. A batch has the trace of the first message that has one. */
function traceOf(messages: readonly Message[]): Record<string, string> {
  const traceparent = messages.find(({ context }) => context.traceparent !== undefined)?.context.traceparent
  return traceparent === undefined ? {} : { traceparent }
}
