// The HTTP server of both sides: handlers receive bodies as bytes, and every error response is `{error}`.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { originOf } from '../runtime/local-server.ts'
import { withDefaults } from '../runtime/present.ts'
import { sleep } from '../runtime/sleep.ts'
import { summarizeRepeats } from '../runtime/summarize-repeats.ts'
import { UnstorableText } from '../runtime/unstorable.ts'
import { createIsInside, isProxied, networkOf, trustConnection } from './address.ts'
import { boundAnswers } from './answers.ts'
import { callerKind, isKnown } from './authentication.ts'
import { restoreConsumedBody } from './consumed-body.ts'
import { HttpError } from './http-error.ts'
import { measureRequests } from './measure.ts'
import { reportStranger, shownPath } from './refusals.ts'
import { type BodyLimits, bodyLimits, boundBodies } from './request-bodies.ts'
import { hasUnanswered, limitUnanswered } from './unanswered.ts'
import { compileValidator } from './validation.ts'

export { HttpError }
export type Side = 'operator' | 'platform'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * A Fastify instance that passes bodies to handlers as bytes and answers every error as `{error}`. Every route with a body must
 * authenticate its caller in `onRequest`, before any of the body is read.
 */
export function createHttp(side: Side, bodyBytes: number, limits: Partial<BodyLimits> = {}): FastifyInstance {
  const all = withDefaults(bodyLimits, limits)
  const app = Fastify({
    bodyLimit: bodyBytes,
    return503OnClosing: false,
    // A base address with a slash at its end is a frequent slip, and a 404 would lose each message (§7.1).
    routerOptions: { maxParamLength, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
    frameworkErrors: (error, request, reply) => refuse(side, request, reply, unreadablePath(error)),
    exposeHeadRoutes: false,
  })
  if (all.bodyBytesInFlight < bodyBytes)
    throw new Error(
      `the limit for all request bodies (${all.bodyBytesInFlight} bytes) is below the limit for one body (${bodyBytes} bytes): raise the first, or lower the second`,
    )
  app.setValidatorCompiler(compileValidator)
  // Must be the first preParsing hook, so that the later ones receive the original bytes.
  app.addHook('preParsing', restoreConsumedBody)
  boundBodies(app, all, (request, reply, error) => refuse(side, request, reply, error))
  boundAnswers(app)
  measureRequests(app, side)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(...noSniffing)
    if (request.is404) return done(notFound(app, request, reply))
    const encoding = request.headers['content-encoding']
    if (encoding === undefined || encoding === 'identity') return done()
    done(new HttpError(415, `content-encoding ${encoding} is not supported here: send the body uncompressed`))
  })
  app.addHook('onRoute', ({ method, url, onRequest }) => {
    if (onRequest !== undefined || [method].flat().every((each) => bodyless.has(each))) return
    throw new Error(
      `${method} ${url} would read a body from any caller: give the route an onRequest hook that authenticates its callers`,
    )
  })
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = asHttpError(error, request.routeOptions.bodyLimit, bodyBytes)
    if (refusal.status === 429 && callerKind(request) === 'anybody') await sleep(slowdownMs)
    return refuse(side, request, reply, refusal)
  })
  return app
}

const maxParamLength = 300
/** A user that sends too many requests gets each refusal late, because a program that ignores them would take our processor time. */
const slowdownMs = 1_000

/** The error for a path that the router cannot match. */
function unreadablePath({ code }: { readonly code: string }): HttpError {
  return code === 'FST_ERR_MAX_PARAM_LENGTH'
    ? new HttpError(400, `a segment of the path is longer than the limit of ${maxParamLength} characters`)
    : new HttpError(400, 'the path cannot be decoded: percent-encode special characters as UTF-8')
}

/** Forbids browsers to guess the content type. Every response has this header, also responses written without Fastify. */
export const noSniffing = ['x-content-type-options', 'nosniff'] as const

const bodyless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** 404, or 405 if the path exists for another method; both are answered before a body is read. */
function notFound(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): HttpError {
  const path = request.url.split('?', 1)[0] as string
  const allowed = methods.filter(
    (method) => app.findRoute({ method, url: path }) !== null || app.hasRoute({ method, url: path }),
  )
  if (allowed.length === 0) return new HttpError(404, 'this path does not exist')
  reply.header('allow', allowed.join(', '))
  return new HttpError(405, `this path does not support ${request.method}: use ${allowed.join(' or ')}`)
}

function refuse(
  side: Side,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, message, retryAfterSeconds, cause, counted }: HttpError,
): FastifyReply {
  const refused = {
    side,
    method: request.method,
    path: request.routeOptions.url ?? shownPath(request.url),
    status,
    error: message,
    ...(cause !== undefined && { cause: causeText(cause) }),
    ...(counted && { counted }),
  }
  const caller = callerKind(request)
  // A caller that is refused with 403 before its route knows it has a key without the scope or brand.
  if (counted || caller === 'partner' || (caller === undefined && status === 403)) emit('request.refused', refused)
  else reportStranger(request.raw, refused)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  return reply
    .code(status)
    .header(...noSniffing)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ error: message }))
}

/** The error's stack. For an unavailable store only the message: it is no bug in our code, and many requests log it. */
function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const unavailable = (cause as { code?: unknown }).code === 'unavailable'
  return unavailable ? cause.message : (cause.stack ?? cause.message)
}

function asHttpError(error: unknown, limit: number, bodyBytes: number): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof UnstorableText) return new HttpError(400, error.message, undefined, { cause: error })
  const { code, statusCode, message } = error as { code?: string; statusCode?: number; message?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const remedy = limit < bodyBytes ? '' : ', or raise the limit body_bytes'
    return new HttpError(413, `the body is larger than the limit of ${limit} bytes: send a smaller body${remedy}`)
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new HttpError(statusCode, message ?? 'bad request')
  return new HttpError(503, 'the server cannot answer now: retry later; if the error persists, its log says why', 1, {
    cause: error,
  })
}

export interface Listening {
  readonly url: string
  /** New connections get this certificate. Open ones go on. Absent: HTTP. */
  readonly replaceCertificate?: (certificate: ServerCertificate) => void
  /** Stops listening. Requests in progress have `withinMs` to finish; then their connections are closed. */
  close(withinMs?: number): Promise<void>
}

/** PEM texts: the certificate with its chain, and its key. */
export interface ServerCertificate {
  readonly cert: string
  readonly key: string
}

export interface ListenOptions {
  readonly host?: string
  readonly port?: number
  /** The part of the side that is served here, for the log. Absent: the whole side, or only the interface. */
  readonly part?: 'admin'
  /** Most open connections; further ones are closed at once. */
  readonly connections?: number
  /** Most open connections of one address (IPv6: one /64); further ones are closed at once. Trusted proxies have no such limit. */
  readonly connectionsPerAddress?: number
  /** Networks of proxies whose X-Forwarded-For names the address of the client, such as '10.0.0.0/8'. */
  readonly trustedProxies?: readonly string[]
  /** Serves HTTPS. */
  readonly certificate?: ServerCertificate | undefined
}

/** A handler for node:http, and a middleware for Express: it calls `next` for paths that are not its own. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void

/** Starts an HTTP server for a handler. Port 0 selects a free port. */
export async function listen(side: Side, handler: Handler, options: ListenOptions = {}): Promise<Listening> {
  const { host = '127.0.0.1', port = 0, part, connections = 20_000, connectionsPerAddress = 1_000 } = options
  const { certificate } = options
  // The time limit of a body depends on its route: see request-bodies.ts.
  const limits = { requestTimeout: 0, headersTimeout: 15_000, connectionsCheckingInterval: 1_000 }
  const handle = limitUnanswered((request: IncomingMessage, response: ServerResponse) => {
    // A request that is destroyed loses its socket.
    const { socket } = request
    response.once('close', () => {
      if (server.listening) shortenIdleTime(socket)
      // A stop waits for the answer, but not for the next request of this connection.
      else server.closeIdleConnections()
    })
    handler(request, response)
  })
  const tlsServer = certificate && createTlsServer({ ...limits, ...certificate, handshakeTimeout: 10_000 }, handle)
  const server = tlsServer ?? createServer(limits, handle)
  const sockets = new Set<Socket>()
  /** The sockets after their TLS handshake. */
  const ready = new WeakSet<Socket>()
  server.maxConnections = connections
  const reportDropped = summarizeRepeats(60_000, (_side, count) => emit('connections.refused', { side, count }))
  server.on('drop', () => reportDropped(side))
  const isProxy = createIsInside(options.trustedProxies ?? [])
  const open = new Map<string, number>()
  server.on(tlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    ready.add(socket)
    if (isProxy(socket.remoteAddress)) trustConnection(socket, isProxy)
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    if (isProxy(socket.remoteAddress)) return
    const address = networkOf(socket.remoteAddress ?? '')
    const count = (open.get(address) ?? 0) + 1
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) as number) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
    if (count <= connectionsPerAddress) return
    reportDropped(side)
    socket.destroy()
  })
  server.keepAliveTimeout = 72_000 // longer than the usual 60 s of proxies, so that they close first
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    if (ready.has(socket)) return answerUnreadable(side, error, socket)
    const failed = `the TLS handshake failed (${error.code ?? error.message})`
    reportStranger({ socket, headers: {} }, { side, method: '', path: '', status: 400, error: failed })
    socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${port} on ${host} is in use: stop the process that listens there, or choose another port`)
          : error,
      ),
    )
    server.listen(port, host, 4096, resolve)
  })
  const url = originOf(server, tlsServer ? 'https' : 'http')
  emit('server.listening', { side, ...(part && { part }), url })
  return {
    url,
    ...(tlsServer && { replaceCertificate: (next: ServerCertificate) => tlsServer.setSecureContext(next) }),
    close(withinMs = 5_000) {
      const { promise, resolve } = Promise.withResolvers<void>()
      // Also connections during their TLS handshake.
      const timeout = clock.setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, withinMs)
      server.close(() => {
        clock.clearTimeout(timeout)
        resolve()
      })
      server.closeIdleConnections()
      return promise
    },
  }
}

const idleMsOfStrangers = 5_000

/** An idle connection stays open for long only for a proxy, and for a client that had a right key or token. */
function shortenIdleTime(socket: Socket): void {
  if (!hasUnanswered(socket) && !isKnown(socket) && !isProxied(socket)) socket.setTimeout(idleMsOfStrangers)
}

/** Answers a request that the HTTP parser rejected, which never reaches a route, and closes the connection, as HTTP requires. */
function answerUnreadable(side: Side, error: Error & { code?: string }, socket: Socket): void {
  // Not a 4xx for a request that may be correct: on a 4xx the platform would drop the message for good (§7.1).
  const unavailable = [503, 'Service Unavailable\r\nretry-after: 1'] as const
  const [status, text, message] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [...unavailable, 'the request did not arrive completely in time: send it faster, or in smaller parts']
      : error.code === 'HPE_INVALID_EOF_STATE'
        ? [...unavailable, 'the connection ended before the end of the request: send it again']
        : error.code === 'HPE_HEADER_OVERFLOW'
          ? [431, 'Request Header Fields Too Large', 'the headers are too large']
          : [400, 'Bad Request', `the request is not valid HTTP (${error.code ?? error.message})`]
  reportStranger({ socket, headers: {} }, { side, method: '', path: '', status, error: message })
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const body = JSON.stringify({ error: message })
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nconnection: close\r\n${noSniffing.join(': ')}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
