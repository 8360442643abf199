// An HTTP/2 server that injects faults. Its GOAWAY follows RFC 9113 §6.8: streams with higher numbers than the last stream in the
// frame are not processed.

import {
  constants,
  createSecureServer,
  createServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Certificate } from './certificate.ts'
import type { Faults } from './faults.ts'
import { listen } from './listen.ts'
import type { Arrival } from './stand-in.ts'

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly accepted: boolean
}

export interface Http2ServerOptions {
  readonly host: string
  readonly port: number
  /** Absent: HTTP/2 without TLS. */
  readonly certificate?: Certificate | undefined
  /** SETTINGS_MAX_CONCURRENT_STREAMS. */
  readonly streams: number
  readonly faults: Faults
  /** Debug data of a GOAWAY frame. */
  readonly goawayData?: string
  tokenOf(request: Request): string
  serve(request: Request): Answer | Promise<Answer>
  onArrival(arrival: Arrival): void
}

export interface Http2Server {
  readonly url: string
  close(): Promise<void>
}

interface SessionState {
  /** The highest number of a processed stream. */
  lastProcessed: number
  /** The last-stream-id of our GOAWAY. */
  goawayStream: number
}

export async function listenHttp2(options: Http2ServerOptions): Promise<Http2Server> {
  const { host, port, certificate, streams, faults } = options
  const settings = { settings: { maxConcurrentStreams: streams } }
  const server = certificate ? createSecureServer({ ...certificate, ...settings }) : createServer(settings)
  const sessions = new Map<ServerHttp2Session, SessionState>()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  server.on('session', (session) => {
    sessions.set(session, { lastProcessed: 0, goawayStream: Number.POSITIVE_INFINITY })
    session.on('error', () => {})
    session.on('close', () => sessions.delete(session))
    // After a GOAWAY of the client, the session closes when all answers are sent.
    session.once('goaway', () => session.close(() => session.destroy()))
  })
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const { ':method': method = '', ':path': path = '' } = headers
      const body = Buffer.concat(chunks).toString()
      serve(stream, { method, path, headers: headers as Record<string, string>, body })
    })
  })

  function serve(stream: ServerHttp2Stream, request: Request): void {
    const session = stream.session as ServerHttp2Session | undefined
    const state = session && sessions.get(session)
    const number = stream.id ?? 0
    // A stream that was reset, or above the last stream of our GOAWAY, is not processed.
    if (!session || !state || stream.destroyed || number > state.goawayStream) return
    state.lastProcessed = Math.max(state.lastProcessed, number)

    const token = options.tokenOf(request)
    const fault = faults.match(token)
    if (fault?.goaway && state.goawayStream === Number.POSITIVE_INFINITY) {
      state.goawayStream = state.lastProcessed
      session.goaway(constants.NGHTTP2_NO_ERROR, state.goawayStream, Buffer.from(options.goawayData ?? ''))
    }
    const recordArrival = (status: number, accepted: boolean): void => {
      options.onArrival({ at: Date.now(), token, headers: request.headers, body: request.body, status, accepted })
    }
    if (fault?.reset === 'before') {
      recordArrival(0, false)
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    const answer = fault?.answer ? { ...fault.answer, accepted: false } : options.serve(request)
    const lost = fault?.reset === 'after'
    if (answer instanceof Promise) answer.then(finish, () => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
    else finish(answer)

    function finish(answer: Answer): void {
      recordArrival(lost ? 0 : answer.status, answer.accepted)
      if (fault?.delayMs === undefined) send(answer)
      else setTimeout(send, fault.delayMs, answer).unref()
    }

    function send(answer: Answer): void {
      if (stream.destroyed || stream.closed) return
      if (lost) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      else respond(stream, answer)
    }
  }

  return {
    url: await listen(server, host, port, certificate ? 'https' : 'http'),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function respond(stream: ServerHttp2Stream, { status, headers, body = '' }: Answer): void {
  stream.respond({ ':status': status, ...headers }, { endStream: body === '' })
  if (body !== '') stream.end(body)
}
