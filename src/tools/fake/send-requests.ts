// The way from a fake platform to the operator: the real platform sends to this server, which passes its requests on, deviates from
// them on request, and records the answers.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { random } from '../../base/runtime/random.ts'
import { readBody } from '../../base/runtime/read-body.ts'
import { resetSocket } from '../../base/runtime/reset-socket.ts'
import { readBatchAnswer, readSingleAnswer } from '../../contract/answer.ts'
import { apiKeyHeader, type Channel, type Mode } from '../../contract/endpoints.ts'
import type { Answer, Exchange } from '../checker/exchange.ts'
import type { HttpClient, WireRequest } from '../checker/http-client.ts'
import { endpointOf, type FakeEndpoint } from './behaviour.ts'
import type { Behaviours } from './behaviours.ts'
import { forwardedHeaders, reply, shorten } from './forward.ts'
import { messagesOf } from './messages-of.ts'
import { type OpenServer, openServer } from './open-server.ts'
import { type PlatformBehaviour, platformBehaviourOf } from './platform-behaviour.ts'
import type { PlatformMessage, PlatformRequest } from './platform-request.ts'
import type { Recorder } from './recorder.ts'

export interface SendRequestsOptions {
  readonly client: HttpClient
  readonly behaviours: Behaviours<PlatformBehaviour>
  readonly recorder: Recorder<PlatformRequest>
}

/** The server, and the key that it accepts: no other program can send with the operator's key. */
export async function openSendRequests(options: SendRequestsOptions): Promise<OpenServer & { readonly key: string }> {
  const key = random.uuid()
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const endpoint = endpointOf(request.url ?? '')
    if (request.headers[apiKeyHeader] !== key || endpoint === undefined)
      return reply(response, 403, '{"error":"only the fake platform sends here"}')
    const body = await readBody(request)
    if (body === undefined) return reply(response, 413, '{"error":"the body is larger than 64 MiB"}')
    const answer = await passOn(options, endpoint, request, body)
    if (!answer) return void resetSocket(response.socket)
    const retryAfter = answer.headers['retry-after']
    reply(response, answer.status, answer.body, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
  }
  const server = await openServer(serve, { host: '127.0.0.1', port: 0 }, async () => {})
  return { ...server, key }
}

/** @returns the answer for the platform; undefined if it is lost */
async function passOn(
  { client, behaviours, recorder }: SendRequestsOptions,
  endpoint: FakeEndpoint,
  request: IncomingMessage,
  body: Buffer,
): Promise<Answer | undefined> {
  const messages = messagesOf(endpoint, body)
  const behaviour = platformBehaviourOf(behaviours, endpoint, new Set(messages.map(({ user }) => user)))
  const { [apiKeyHeader]: _, ...headers } = forwardedHeaders(request)
  const wire: WireRequest = {
    label: endpoint,
    path: request.url as string,
    headers,
    body: body.toString(),
    ...specialOf(behaviour),
  }
  const send = async (): Promise<Exchange> => {
    const n = recorder.next()
    const exchange = await client.send(wire)
    recorder.record({ n, ...recordOf(endpoint, messages, exchange), ...(behaviour && { behaviour }) })
    return exchange
  }
  const { repeat } = behaviour ?? {}
  const second = repeat === 'at_once' ? send() : undefined
  const exchange = await send()
  await second
  if (repeat === 'after') await send()
  return exchange.lost ? undefined : exchange.answer
}

function specialOf({ cut, key, write_ms: writeMs }: PlatformBehaviour = {}): Partial<WireRequest> {
  if (cut !== undefined) return { abandon: cut === 'after' ? 'first_bytes' : { after: 'half_body', ms: 0 } }
  if (writeMs !== undefined) return { writeOverMs: writeMs }
  return key === undefined ? {} : { key }
}

function recordOf(
  endpoint: FakeEndpoint,
  messages: readonly PlatformMessage[],
  { startedAt, ms, answer, lost, abandoned }: Exchange,
): Omit<PlatformRequest, 'n' | 'behaviour'> {
  const common = { at: startedAt, ms, direction: 'sent', endpoint } as const
  if (!answer || lost) {
    const why = lost?.detail ?? (abandoned ? 'the fake platform cut the connection' : 'no answer')
    return { ...common, messages, lost: why }
  }
  const read = outcomesOf(endpoint, messages, answer)
  return { ...common, ...read, status: answer.status, answer: shorten(answer.body) }
}

function outcomesOf(
  endpoint: FakeEndpoint,
  messages: readonly PlatformMessage[],
  { status, body, headers }: Answer,
): Pick<PlatformRequest, 'messages' | 'warnings'> {
  if (endpoint === 'reconciliation' || messages.length === 0) return { messages }
  const [channel, mode] = endpoint.split('/') as [Channel, Mode]
  const wire = { channel, status, body, retryAfter: headers['retry-after'] }
  const ids = messages.map(({ id }) => id as string)
  const { outcomes, warnings } =
    mode === 'single' ? { outcomes: [readSingleAnswer(wire)], warnings: [] } : readBatchAnswer({ ...wire, ids })
  const read = messages.map((message, place): PlatformMessage => {
    const outcome = outcomes[place] as (typeof outcomes)[number]
    return {
      ...message,
      outcome: outcome.category,
      ...(outcome.ref !== undefined && { identifier: outcome.ref }),
      ...(outcome.category !== 'successful' && { error: outcome.error }),
    }
  })
  return { messages: read, ...(warnings.length > 0 && { warnings }) }
}
