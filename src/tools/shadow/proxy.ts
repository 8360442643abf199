// Forwards requests to the operator in production, and its answers back, byte for byte. Both are copied while they pass.

import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { clock } from '../../base/runtime/clock.ts'
import { type CollectedBytes, collectBytes } from '../../base/runtime/collect-bytes.ts'
import { listenAt } from '../../base/runtime/local-server.ts'
import { atMost } from '../../base/runtime/within.ts'

/** A request that the operator answered completely. */
export interface Forwarded {
  /** Epoch milliseconds. */
  readonly at: number
  readonly method: string
  readonly path: string
  /** Without the headers of the connection. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly request: Buffer
  readonly answer: {
    readonly status: number
    /** Names in lower case. */
    readonly headers: Readonly<Record<string, string>>
    readonly body: Buffer
  }
}

export interface ProxyOptions {
  /** The address of the operator, without a slash at its end. */
  readonly to: string
  readonly host: string
  readonly port: number
  readonly onForwarded: (forwarded: Forwarded) => void
  /** Called for a request that was not copied, with the reason. */
  readonly onUncopied: (reason: string, example: string) => void
}

export interface Proxy {
  readonly url: string
  /** Refuses new connections. Requests in progress have `withinMs` to be answered. */
  close(withinMs: number): Promise<void>
}

export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const open = new Set<ServerResponse>()
  let onIdle: (() => void) | undefined
  const server = createServer((request, response) => {
    open.add(response)
    response.once('close', () => {
      open.delete(response)
      if (open.size === 0) onIdle?.()
    })
    forward(request, response, options)
  })
  // Times are those of the platform and of the operator.
  Object.assign(server, { requestTimeout: 0, keepAliveTimeout: 72_000 })
  return {
    url: await listenAt(server, options),
    async close(withinMs) {
      server.close()
      if (open.size > 0) await atMost(withinMs, new Promise<void>((resolve) => (onIdle = resolve)))
      server.closeAllConnections()
    },
  }
}

function forward(request: IncomingMessage, response: ServerResponse, options: ProxyOptions): void {
  const { to, onForwarded, onUncopied } = options
  const { method = 'GET', url = '/' } = request
  const at = clock.now()
  const copy = { request: collect(request), answer: undefined as Collected | undefined }
  const upstream = connect(`${to}${url}`, method, request)
  upstream.on('response', (answer) => {
    copy.answer = collect(answer)
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders))
    answer.pipe(response)
    answer.once('error', fail)
    answer.once('end', () => {
      const body = copy.answer?.body()
      const asked = copy.request.body()
      if (body === undefined || asked === undefined)
        return onUncopied('the request or its answer is larger than 16 MiB', `${method} ${url}`)
      const headers = single(answer.headers)
      onForwarded({
        at,
        method,
        path: url,
        headers: withoutConnection(single(request.headers)),
        request: asked,
        answer: { status: answer.statusCode ?? 0, headers, body },
      })
    })
  })
  upstream.once('error', fail)
  response.once('close', () => upstream.destroy())
  request.pipe(upstream)

  function fail(error: Error): void {
    if (response.closed) onUncopied('the platform did not wait for the answer', `${method} ${url}`)
    else onUncopied('the operator did not answer', error.message)
    if (response.headersSent) response.destroy()
    else refuse(response, error)
  }
}

/** A connection for each request: a kept one may be closed by the operator at the moment of the next request. */
function connect(url: string, method: string, { rawHeaders }: IncomingMessage): ClientRequest {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  const headers = [...endToEnd(rawHeaders, 'host'), 'host', new URL(url).host]
  return send(url, { method, headers, agent: false })
}

/** 502: the platform repeats the message (§7.1, §7.2). */
function refuse(response: ServerResponse, { message }: Error): void {
  response.writeHead(502, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ error: `the operator behind this proxy did not answer: ${message}` }))
}

const ofConnection = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer', 'upgrade']
const ofRequest = [...ofConnection, 'expect', 'host', 'content-length']

/** Raw headers without those of the connection. A body without Content-Length is sent in chunks again. */
function endToEnd(rawHeaders: readonly string[], ...others: readonly string[]): string[] {
  const left = [...ofConnection, 'expect', ...others]
  return rawHeaders.filter((_, i) => !left.includes((rawHeaders[i - (i % 2)] as string).toLowerCase()))
}

const single = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )

const withoutConnection = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofRequest.includes(name)))

interface Collected {
  /** Undefined if it is too large to be copied. */
  body(): Buffer | undefined
}

const mostBytes = 16 * 1024 * 1024

function collect(stream: IncomingMessage): Collected {
  let collected: CollectedBytes | undefined = collectBytes()
  stream.on('data', (chunk: Buffer) => {
    collected?.add(chunk)
    if (collected && collected.bytes > mostBytes) collected = undefined
  })
  return { body: () => collected?.join() }
}
