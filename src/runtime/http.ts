// HTTP as both sides speak it: bodies as bytes, every error as `{error}`, and nothing that one request does disturbs another.

import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { bodyAsItCame } from './consumed-body.ts'
import { emit } from './events.ts'
import type { Handler } from './mount.ts'

export type Side = 'operator' | 'platform'

/** An error that is answered as it is: a status and a sentence that names the remedy. */
export class HttpError extends Error {
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  constructor(status: number, message: string, retryAfterSeconds?: number) {
    super(message)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A Fastify instance that hands bodies over as bytes and answers every error as `{error}`. */
export function createHttp(side: Side, bodyBytes: number): FastifyInstance {
  const app = Fastify({
    bodyLimit: bodyBytes,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 300 },
    exposeHeadRoutes: false,
  })
  app.removeAllContentTypeParsers()
  // Whatever the content type says: the interface has JSON bodies only (§4).
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, body: Buffer, done: (error: null, body: Buffer) => void) => done(null, body),
  )
  app.addHook('onRequest', (request, _reply, done) => {
    const encoding = request.headers['content-encoding']
    if (encoding === undefined || encoding === 'identity') return done()
    done(new HttpError(415, `content-encoding ${encoding} is not read here: send the body uncompressed`))
  })
  app.addHook('preParsing', bodyAsItCame)
  app.setErrorHandler((error, request, reply) => refuse(side, request, reply, asHttpError(error, bodyBytes)))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] as string
    const allowed = methods.filter(
      (method) => app.findRoute({ method, url: path }) !== null || app.hasRoute({ method, url: path }),
    )
    if (allowed.length === 0) return refuse(side, request, reply, new HttpError(404, `there is nothing at ${path}`))
    reply.header('allow', allowed.join(', '))
    return refuse(
      side,
      request,
      reply,
      new HttpError(405, `${request.method} is not known at ${path}: use ${allowed.join(' or ')}`),
    )
  })
  return app
}

function refuse(
  side: Side,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, message, retryAfterSeconds }: HttpError,
): FastifyReply {
  emit('request.refused', {
    side,
    method: request.method,
    path: request.routeOptions.url ?? request.url,
    status,
    error: message,
  })
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ error: message }))
}

function asHttpError(error: unknown, bodyBytes: number): HttpError {
  if (error instanceof HttpError) return error
  const { code, statusCode, message } = error as { code?: string; statusCode?: number; message?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new HttpError(
      413,
      `the body is larger than ${bodyBytes} bytes: send fewer messages at a time, or raise the limit body_bytes`,
    )
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new HttpError(statusCode, message ?? 'bad request')
  return new HttpError(503, `the server cannot answer now (${message ?? String(error)})`, 1)
}

export interface Listening {
  readonly url: string
  /** Stops listening; requests under way may finish for so long, then their connections are cut. */
  close(withinMs?: number): Promise<void>
}

export interface ListenOptions {
  readonly host?: string
  readonly port?: number
  /** The part of the side that is served there, for the log. Absent: all of it, or what the other party calls. */
  readonly part?: 'admin'
  /** A request that has not arrived whole by then is answered 408. */
  readonly requestTimeoutMs?: number
}

/** Listens with a plain handler. Port 0 takes a free one. */
export async function listen(side: Side, handler: Handler, options: ListenOptions = {}): Promise<Listening> {
  const { host = '127.0.0.1', port = 0, part, requestTimeoutMs = 30_000 } = options
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: Math.min(requestTimeoutMs, 15_000),
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
    },
    handler,
  )
  server.keepAliveTimeout = 72_000 // longer than the usual 60 s of proxies, so that they close first
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => answerUnreadable(side, error, socket))
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${port} on ${host} is in use: stop what listens there or choose another port`)
          : error,
      ),
    )
    server.listen(port, host, 4096, resolve)
  })
  const { address, port: bound, family } = server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
  emit('server.listening', { side, ...(part && { part }), url })
  return { url, close: (withinMs = 5_000) => close(server, withinMs) }
}

/** What the HTTP parser refuses never reaches a route: answered here, and the connection ends, as HTTP demands. */
function answerUnreadable(side: Side, error: Error & { code?: string }, socket: Socket): void {
  const [status, text, message] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'Request Timeout', 'the request did not arrive whole in time: send it faster, or in smaller parts']
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? [431, 'Request Header Fields Too Large', 'the headers are too large']
        : [400, 'Bad Request', `this is not readable as HTTP (${error.code ?? error.message})`]
  emit('request.refused', { side, method: '', path: '', status, error: message })
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const body = JSON.stringify({ error: message })
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function close(server: Server, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), withinMs)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
