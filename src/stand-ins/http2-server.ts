// An HTTP/2 server that plays fault scripts. Its GOAWAY means what RFC 9113 §6.8 says: streams with higher numbers than the one
// that it names were not looked at.

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
  /** What a GOAWAY frame carries. */
  readonly farewell?: string
  tokenOf(request: Request): string
  serve(request: Request): Answer | Promise<Answer>
  arrived(arrival: Arrival): void
}

export interface Http2Server {
  readonly url: string
  close(): Promise<void>
}

interface Seen {
  /** The highest stream that was looked at. */
  looked: number
  /** The last-stream-id of our GOAWAY. */
  last: number
}

export async function listenHttp2(options: Http2ServerOptions): Promise<Http2Server> {
  const { host, port, certificate, streams, faults } = options
  const settings = { settings: { maxConcurrentStreams: streams } }
  const server = certificate ? createSecureServer({ ...certificate, ...settings }) : createServer(settings)
  const sessions = new Map<ServerHttp2Session, Seen>()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  server.on('session', (session) => {
    sessions.set(session, { looked: 0, last: Number.POSITIVE_INFINITY })
    session.on('error', () => {})
    session.on('close', () => sessions.delete(session))
    // The client has said goodbye: as soon as it has all its answers.
    session.once('goaway', () => session.close(() => session.destroy()))
  })
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const { ':method': method = '', ':path': path = '' } = headers
      const body = Buffer.concat(chunks).toString()
      meet(stream, { method, path, headers: headers as Record<string, string>, body })
    })
  })

  function meet(stream: ServerHttp2Stream, request: Request): void {
    const session = stream.session as ServerHttp2Session | undefined
    const seen = session && sessions.get(session)
    const number = stream.id ?? 0
    // Reset, or above the last stream of our GOAWAY: not looked at.
    if (!session || !seen || stream.destroyed || number > seen.last) return
    seen.looked = Math.max(seen.looked, number)

    const token = options.tokenOf(request)
    const fault = faults.meet(token)
    if (fault?.goaway && seen.last === Number.POSITIVE_INFINITY) {
      seen.last = seen.looked
      session.goaway(constants.NGHTTP2_NO_ERROR, seen.last, Buffer.from(options.farewell ?? ''))
    }
    const note = (status: number, accepted: boolean): void => {
      options.arrived({ at: Date.now(), token, headers: request.headers, body: request.body, status, accepted })
    }
    if (fault?.reset === 'before') {
      note(0, false)
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    const served = fault?.answer ? { ...fault.answer, accepted: false } : options.serve(request)
    const lost = fault?.reset === 'after'
    if (served instanceof Promise) served.then(answered, () => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
    else answered(served)

    function answered(answer: Answer): void {
      note(lost ? 0 : answer.status, answer.accepted)
      if (fault?.delayMs === undefined) end(answer)
      else setTimeout(end, fault.delayMs, answer).unref()
    }

    function end(answer: Answer): void {
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
