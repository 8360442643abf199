// Limits for request bodies: the total size of all bodies, and the time that one body takes to arrive.

import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clock } from '../runtime/clock.ts'
import { HttpError } from './http-error.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Content types whose bodies the handler of this route reads as a stream. */
    readonly streamed?: readonly string[]
  }
}

export interface BodyLimits {
  /** Total bytes of all bodies, each until its request is answered. A body above the limit is answered 503, unread. */
  readonly bodyBytesInFlight: number
  /** Time limit for a complete body; for a streamed body, the longest pause. Beyond it, the request is answered 408. */
  readonly bodyTimeoutMs: number
}

export const bodyLimits: BodyLimits = { bodyBytesInFlight: 256 * 1024 * 1024, bodyTimeoutMs: 30_000 }

/** The most memory of a streamed body, however long it is: the block of lines being read, the block being stored, and the longest line. */
const streamBytes = 4 * 1024 * 1024
/** Users have a separate share, so that their requests cannot block the platform's. */
const shareOfUsers = 1 / 8
/** Grace period between the answer to an unread body and the end of its connection, in which the sender reads the answer. */
const graceMs = 2_000
/** Longest unread body, in bytes, that is still received and dropped: some senders read the answer only after their last byte. */
const mostDropped = 1024 * 1024

interface Arriving {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly streamed: boolean
  /** When the request began; for a streamed body, when its last bytes arrived. */
  since: number
  bytesRead: number
}

type Refuse = (request: FastifyRequest, reply: FastifyReply, error: HttpError) => void

/**
 * Applies the limits to the bodies of all routes of `app`.
 *
 * @returns a function to call when a body has arrived completely
 */
export function boundBodies(app: FastifyInstance, limits: BodyLimits, refuse: Refuse): (raw: IncomingMessage) => void {
  const { bodyBytesInFlight, bodyTimeoutMs } = limits
  const arriving = new Map<IncomingMessage, Arriving>()
  const ofUsers = createBudget(bodyBytesInFlight * shareOfUsers)
  const ofOthers = createBudget(bodyBytesInFlight)

  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (hasBody(raw)) {
      const since = clock.monotonic()
      const streamed = isStreamed(request)
      arriving.set(raw, { request, reply, streamed, since, bytesRead: raw.socket.bytesRead })
      reply.raw.once('finish', () => dropBody(raw))
    }
    done()
  })

  // The sender is authenticated by now (onRequest), and the body is still unread.
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw, routeOptions } = request
    const one = arriving.get(raw)
    if (!one || request.method === 'GET') return done(null, payload)
    const length = raw.headers['content-length']
    // A short stream counts as its length: callers may send many streams of one record at the same time.
    const expected = one.streamed ? Math.min(streamBytes, Number(length ?? streamBytes)) : Number(length ?? 0)
    if (expected > routeOptions.bodyLimit && !one.streamed) return done(null, payload) // 413, unread
    const budget = routeOptions.url?.startsWith('/app/') ? ofUsers : ofOthers
    if (!budget.reserve(expected)) return done(overloaded())
    let reserved = expected
    reply.raw.once('close', () => budget.release(reserved))
    if (one.streamed || length !== undefined) return done(null, payload)
    // The length is unknown: count the bytes as they arrive.
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, next) {
        if (!budget.reserve(chunk.length)) return next(overloaded())
        reserved += chunk.length
        next(null, chunk)
      },
    })
    done(null, payload.on('error', (error) => counted.destroy(error)).pipe(counted))
  })

  const timer = clock.setInterval(sweep, Math.min(1_000, bodyTimeoutMs)).unref()
  app.addHook('onClose', async () => clock.clearInterval(timer))
  return (raw) => void arriving.delete(raw)

  function sweep(): void {
    // A clock that was set must not end requests.
    const now = clock.monotonic()
    for (const [raw, one] of arriving) {
      if (raw.complete || raw.destroyed || one.reply.raw.headersSent) arriving.delete(raw)
      else if (!isLate(raw, one, now)) continue
      else refuse(one.request, one.reply.header('connection', 'close'), timeoutError(one, bodyTimeoutMs))
    }
  }

  /** A stream is late when its sender pauses: not because it is long, and not while received bytes wait to be read. */
  function isLate(raw: IncomingMessage, one: Arriving, now: number): boolean {
    const { bytesRead } = raw.socket
    if (one.streamed && (bytesRead > one.bytesRead || raw.readableLength > 0)) {
      one.bytesRead = bytesRead
      one.since = now
    }
    return now - one.since >= bodyTimeoutMs
  }
}

/**
 * Ends a request that was answered before its body was read. A short body is received and dropped, and the connection stays open.
 * A long body, or one of unknown length, is left in the sender's buffers, since each received chunk uses memory until the next
 * garbage collection; the connection is closed for writing, so that no sender uses it for another request.
 */
export function dropBody(raw: IncomingMessage): void {
  if (raw.complete || raw.destroyed) return
  if (!(Number(raw.headers['content-length']) <= mostDropped)) {
    // Node resumes an unread request once it is answered, which would undo a pause in the same turn of the event loop.
    setImmediate(() => raw.socket.pause().end())
  }
  const timer = clock.setTimeout(() => raw.destroy(), graceMs).unref()
  raw.once('close', () => clock.clearTimeout(timer))
}

export interface Budget {
  /** Reserves the bytes if they are available. @returns whether they were reserved */
  reserve(bytes: number): boolean
  release(bytes: number): void
}

/** @example createBudget(1024).reserve(2048) // false */
export function createBudget(most: number): Budget {
  let reserved = 0
  return {
    reserve(bytes) {
      if (reserved + bytes > most) return false
      reserved += bytes
      return true
    },
    release(bytes) {
      reserved -= bytes
    },
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function isStreamed(request: FastifyRequest): boolean {
  return request.routeOptions.config?.streamed?.includes(mediaTypeOf(request)) ?? false
}

/** @example 'application/json' for 'Application/JSON; charset=utf-8'; '' for a request without a content type */
export function mediaTypeOf({ headers }: FastifyRequest): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function overloaded(): HttpError {
  return new HttpError(503, 'too many request bodies are being read now: retry later', 1)
}

function timeoutError({ streamed }: Arriving, timeoutMs: number): HttpError {
  return new HttpError(
    408,
    streamed
      ? `no data of the body arrived for ${timeoutMs} ms: send it again, records that were accepted are skipped`
      : `the body did not arrive completely within ${timeoutMs} ms: send it faster, or in smaller parts`,
  )
}
