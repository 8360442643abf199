// The server of a stand-in, which injects faults. Its GOAWAY follows RFC 9113 §6.8: streams with higher numbers than the last stream in
// the frame are not processed.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import {
  constants,
  createServer as createHttp2Server,
  createSecureServer,
  type Http2ServerRequest,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { limitUnanswered } from '../../base/http/unanswered.ts'
import type { FixedAnswer } from '../../base/runtime/fault-script.ts'
import { listenAt } from '../../base/runtime/local-server.ts'
import type { Certificate } from './certificate.ts'
import type { Fault, Faults } from './faults.ts'
import type { Arrival } from './stand-in.ts'

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Answer extends FixedAnswer {
  readonly accepted: boolean
}

export interface PushServerOptions {
  readonly port: number
  /** Absent: no TLS. */
  readonly certificate?: Certificate | undefined
  /** Default: http2. */
  readonly versions?: 'http1' | 'http2' | 'both'
  /** SETTINGS_MAX_CONCURRENT_STREAMS. Default: no limit. */
  readonly streams?: number
  readonly faults: Faults
  /** Debug data of a GOAWAY frame. */
  readonly goawayData?: string
  tokenOf(request: Request): string
  serve(request: Request): Answer | Promise<Answer>
  /** The body as it is recorded. Default: its text. */
  readonly textOf?: (request: Request) => string
  onArrival(arrival: Arrival): void
}

export interface PushServer {
  readonly url: string
  readonly server: Server
  close(): Promise<void>
}

export async function openPushServer(options: PushServerOptions): Promise<PushServer> {
  const { faults, textOf = ({ body }) => body.toString() } = options
  const handle = limitUnanswered((request, response) => {
    serve(request, response).catch(() => abort(request, constants.NGHTTP2_INTERNAL_ERROR))
  })
  const server = createServerOf(options, handle)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('session', (session: ServerHttp2Session) => {
    session.on('error', () => {})
    // After a GOAWAY of the client, the session closes when all answers are sent.
    session.once('goaway', () => session.close(() => session.destroy()))
  })

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const stream = streamOf(incoming)
    if (stream && !isProcessed(stream)) return
    const { method = '', url: path = '' } = incoming
    const request: Request = { method, path, headers: incoming.headers as Record<string, string>, body }
    const token = options.tokenOf(request)
    const fault = faults.match(token)
    if (fault?.goaway) announceEnd(stream, response, options.goawayData)
    const record = (status: number, accepted: boolean): void =>
      options.onArrival({ at: Date.now(), token, headers: request.headers, body: textOf(request), status, accepted })
    if (fault?.reset === 'before') {
      record(0, false)
      await waitFor(fault)
      return abort(incoming, constants.NGHTTP2_REFUSED_STREAM)
    }
    const answer = fault?.answer ? { ...fault.answer, accepted: false } : await options.serve(request)
    const isLost = fault?.reset === 'after'
    record(isLost ? 0 : answer.status, answer.accepted)
    if (fault) await waitFor(fault)
    if (isLost) return abort(incoming, constants.NGHTTP2_INTERNAL_ERROR)
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }

  return {
    url: await listenAt(server, { port: options.port, scheme: options.certificate ? 'https' : 'http' }),
    server,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Waits for the start of a second server. If the start fails, the first server is closed. */
export async function orClose<S>(first: { close(): Promise<void> }, second: Promise<S>): Promise<S> {
  try {
    return await second
  } catch (error) {
    await first.close()
    throw error
  }
}

async function waitFor({ delayMs }: Fault): Promise<void> {
  if (delayMs !== undefined) await sleep(delayMs, undefined, { ref: false })
}

/** Node offers the same requests for HTTP/1.1 and HTTP/2. */
function createServerOf({ certificate, versions, streams }: PushServerOptions, handle: RequestListener): Server {
  if (versions === 'http1') return certificate ? createHttpsServer({ ...certificate }, handle) : createServer(handle)
  const options = streams === undefined ? {} : { settings: { maxConcurrentStreams: streams } }
  const server = certificate
    ? createSecureServer({ ...certificate, ...options, allowHTTP1: versions === 'both' })
    : createHttp2Server(options)
  return (server as unknown as Server).on('request', handle)
}

const streamOf = (request: IncomingMessage): ServerHttp2Stream | undefined =>
  request.httpVersionMajor > 1 ? (request as unknown as Http2ServerRequest).stream : undefined

/** HTTP/2 resets the stream, and says whether the request was processed. HTTP/1.1 can only end the connection. */
function abort(request: IncomingMessage, code: number): void {
  const stream = streamOf(request)
  if (stream) stream.close(code)
  else request.socket.destroy()
}

/** The last processed stream of each session, and the last stream of its GOAWAY. */
const processed = new WeakMap<object, { last: number; goaway: number }>()

/** Streams may arrive between the call of goaway() and the frame on the wire. Their client sends them again, so they are ignored. */
function isProcessed({ session, id = 0, destroyed }: ServerHttp2Stream): boolean {
  if (!session || destroyed) return false
  const state = processed.get(session) ?? { last: 0, goaway: Number.POSITIVE_INFINITY }
  processed.set(session, state)
  if (id > state.goaway) return false
  state.last = Math.max(state.last, id)
  return true
}

/** HTTP/1.1 has no GOAWAY: the connection closes after this answer. */
function announceEnd(stream: ServerHttp2Stream | undefined, response: ServerResponse, data = ''): void {
  if (!stream) return void response.setHeader('connection', 'close')
  const { session } = stream
  const state = session && processed.get(session)
  if (!state || state.goaway !== Number.POSITIVE_INFINITY) return
  state.goaway = state.last
  session.goaway(constants.NGHTTP2_NO_ERROR, state.goaway, Buffer.from(data))
}
