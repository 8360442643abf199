// A fake operator: the real operator in memory, behind a server that deviates from it on request and lists the received requests.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { request as send } from 'undici'
import { fileSource } from '../attributes/file.ts'
import type { Channel, Mode } from '../contract/endpoints.ts'
import { type ReadItem, readBatch, readSingle } from '../contract/read-activity.ts'
import { listen } from '../http/http.ts'
import { createOperator } from '../operator/create-operator.ts'
import { recording } from '../providers/recording.ts'
import { clock } from '../runtime/clock.ts'
import type { Arrival, RealAnswer } from './arrival.ts'
import { createBehaviours, endpointOf, type FakeEndpoint } from './behaviour.ts'
import { controlPath, serveControl } from './control.ts'
import { forceOutcomes } from './forced-outcomes.ts'

export interface FakeOperatorOptions {
  readonly host: string
  /** 0: a free port. */
  readonly port: number
  readonly apiKey: string
  readonly brands: readonly string[]
  /** A CSV or NDJSON file of user attributes (docs/reconciliation.md). Absent: no user is blocked, and there are no lists. */
  readonly users?: string
  readonly onArrival?: (arrival: Arrival) => void
}

export interface FakeOperator {
  /** {base_url} of §4.1. */
  readonly url: string
  close(): Promise<void>
}

const mostArrivals = 10_000
const mostBodyBytes = 64 * 1024 * 1024
const mostAnswerCharacters = 2_000

/**
 * @example
 * const fake = await startFakeOperator({ host: '127.0.0.1', port: 0, apiKey: 'fake-operator-key', brands: ['1'] })
 * // POST /fake/behaviours {"every": 3, "answer": {"status": 500}}
 */
export async function startFakeOperator(options: FakeOperatorOptions): Promise<FakeOperator> {
  const { apiKey, brands, users, onArrival } = options
  const operator = createOperator({
    store: 'sqlite::memory:',
    keys: [{ name: 'platform', key: apiKey, brands }],
    push: recording(),
    site: recording(),
    ...(users === undefined ? { suppression: 'none' as const } : { attributes: await fileSource(users) }),
  })
  await operator.start()
  const inner = await listen('operator', operator.handler, { host: '127.0.0.1', port: 0 })
  const behaviours = createBehaviours()
  const arrivals: Arrival[] = []
  let received = 0

  const record = (arrival: Omit<Arrival, 'n'>, n: number): void => {
    const complete = { n, ...arrival }
    arrivals.push(complete)
    if (arrivals.length > mostArrivals) arrivals.splice(0, arrivals.length - mostArrivals)
    onArrival?.(complete)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy()
      else reply(response, 500, JSON.stringify({ error: error.message }))
    })
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://fake')
    if (pathname.startsWith(controlPath)) return serveControl(request, response, { behaviours, arrivals })
    const body = await readBody(request)
    if (body === undefined) return reply(response, 413, '{"error":"the body is larger than 64 MiB"}')
    const endpoint = request.method === 'POST' ? endpointOf(pathname) : undefined
    if (endpoint === undefined) return forward(inner.url, request, body, response).then(() => {})
    const [n, at] = [++received, clock.now()]
    const messages = messagesOf(endpoint, body)
    const found = behaviours.ofRequest(endpoint, new Set(messages.map(({ user }) => user)))
    const behaviour = found?.behaviour
    const arrival = { at, endpoint, messages, ...(behaviour && { behaviour }) }
    const { delay_ms: delayMs, hang, cut, answer } = behaviour ?? {}
    if (delayMs !== undefined) await new Promise<void>((resolve) => clock.setTimeout(resolve, delayMs).unref())
    if (hang) return record(arrival, n)
    if (cut === 'before') {
      record(arrival, n)
      return void response.socket?.resetAndDestroy()
    }
    if (answer) {
      record({ ...arrival, status: answer.status, answer: shorten(answer.body ?? '') }, n)
      return reply(response, answer.status, answer.body ?? '', answer.headers)
    }
    if (endpoint === 'reconciliation') {
      const status = await forward(inner.url, request, body, response, cut === 'after')
      return record({ ...arrival, ...(status !== undefined && { status }) }, n)
    }
    const [channel, mode] = endpoint.split('/') as [Channel, Mode]
    const forced = forceOutcomes(channel, mode, body, (user) => behaviours.ofMessage(endpoint, user))
    const real = forced.body && (await exchange(inner.url, request, forced.body))
    const { status, text, headers } = forced.complete(real)
    if (cut === 'after') {
      record(arrival, n)
      return void response.socket?.resetAndDestroy()
    }
    record({ ...arrival, ...(forced.behaviour && { behaviour: forced.behaviour }), status, answer: shorten(text) }, n)
    reply(response, status, text, headers)
  }

  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(options.port, options.host, () => resolve()),
  ).catch(async (error: unknown) => {
    await inner.close(0)
    await operator.stop(0)
    throw error
  })
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await inner.close(0)
      await operator.stop(0)
    },
  }
}

async function exchange(to: string, request: IncomingMessage, body: Buffer): Promise<RealAnswer> {
  const {
    statusCode,
    headers,
    body: answer,
  } = await send(to + request.url, {
    method: 'POST',
    headers: forwardedHeaders(request),
    body,
  })
  const retryAfter = headers['retry-after']
  return {
    status: statusCode,
    text: await answer.text(),
    headers: typeof retryAfter === 'string' ? { 'retry-after': retryAfter } : {},
  }
}

/** Streams the real operator's answer. @param cut after the first bytes of the answer. @returns its status, unless it was cut */
async function forward(
  to: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  cut = false,
): Promise<number | undefined> {
  const {
    statusCode,
    headers,
    body: answer,
  } = await send(to + request.url, {
    method: request.method as 'GET',
    headers: forwardedHeaders(request),
    ...(body.length > 0 && { body }),
  })
  response.writeHead(statusCode, { 'content-type': String(headers['content-type'] ?? 'application/json') })
  for await (const chunk of answer) {
    if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    if (cut || response.destroyed) break
  }
  if (cut) {
    response.destroy()
    return undefined
  }
  response.end()
  return statusCode
}

/** All headers but those of the connection. */
function forwardedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const own = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect', 'keep-alive'])
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      own.has(name) || value === undefined ? [] : [[name, `${value}`]],
    ),
  )
}

function messagesOf(endpoint: FakeEndpoint, body: Buffer): Arrival['messages'] {
  if (endpoint === 'reconciliation') return []
  const items = endpoint.endsWith('single') ? [readSingle(body)] : itemsOf(body)
  return items.flatMap((item) => ('invalid' in item ? [] : [{ id: item.id, user: item.userId }]))
}

function itemsOf(body: Buffer): readonly ReadItem[] {
  const read = readBatch(body)
  return 'items' in read ? read.items : []
}

/** @returns undefined if the body is too large */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > mostBodyBytes) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

function reply(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(body)
}

const shorten = (text: string): string =>
  text.length > mostAnswerCharacters ? `${text.slice(0, mostAnswerCharacters)}…` : text
