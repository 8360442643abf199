// What request bodies may cost: the bytes of all bodies together, and the time that one body takes to arrive.

import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Content types whose bodies the handler of this route reads as a stream. */
    readonly streamed?: readonly string[]
  }
}

export interface BodyLimits {
  /** Bytes of all bodies together, each until its request is answered. What would be more is answered 503, unread. */
  readonly bodyBytesInFlight: number
  /** A body that has not arrived whole by then is answered 408; a streamed one, when nothing of it came for so long. */
  readonly bodyTimeoutMs: number
}

export const bodyLimits: BodyLimits = { bodyBytesInFlight: 256 * 1024 * 1024, bodyTimeoutMs: 30_000 }

/** What a streamed body of any length takes: a block of lines that is read, one that is stored, and the longest line. */
const streamBytes = 4 * 1024 * 1024
/** Users have a share of their own, so that their requests cannot keep those of the platform out. */
const shareOfUsers = 1 / 8
/** Time between an answer to an unread body and the end of its connection. The sender reads the answer in this time. */
const graceMs = 2_000
/** Longest unread body that is still received and dropped, in bytes, since some senders read no answer before their last byte. */
const mostDropped = 1024 * 1024

interface Arriving {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly streamed: boolean
  /** Since when nothing came of a streamed body; else since when the body is awaited. */
  since: number
  bytesRead: number
}

type Refuse = (request: FastifyRequest, reply: FastifyReply, error: HttpError) => void

/**
 * Bounds the bodies of all routes of `app`.
 *
 * @returns what to call when a body is there, whole
 */
export function boundBodies(app: FastifyInstance, limits: BodyLimits, refuse: Refuse): (raw: IncomingMessage) => void {
  const { bodyBytesInFlight, bodyTimeoutMs } = limits
  const arriving = new Map<IncomingMessage, Arriving>()
  const ofUsers = createBudget(bodyBytesInFlight * shareOfUsers)
  const ofOthers = createBudget(bodyBytesInFlight)

  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (hasBody(raw)) {
      const since = Date.now()
      const streamed = isStreamed(request)
      arriving.set(raw, { request, reply, streamed, since, bytesRead: raw.socket.bytesRead })
      reply.raw.once('finish', () => dropBody(raw))
    }
    done()
  })

  // Whoever sends it has been admitted by now (onRequest), and nothing of it has been read yet.
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw, routeOptions } = request
    const one = arriving.get(raw)
    if (!one || request.method === 'GET') return done(null, payload)
    const length = raw.headers['content-length']
    const expected = one.streamed ? streamBytes : Number(length ?? 0)
    if (expected > routeOptions.bodyLimit && !one.streamed) return done(null, payload) // 413, unread
    const budget = routeOptions.url?.startsWith('/app/') ? ofUsers : ofOthers
    if (!budget.take(expected)) return done(tooMuch())
    let taken = expected
    reply.raw.once('close', () => budget.giveBack(taken))
    if (one.streamed || length !== undefined) return done(null, payload)
    // Of a length that nobody knows: counted as it comes.
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, next) {
        if (!budget.take(chunk.length)) return next(tooMuch())
        taken += chunk.length
        next(null, chunk)
      },
    })
    done(null, payload.on('error', (error) => counted.destroy(error)).pipe(counted))
  })

  const timer = setInterval(sweep, Math.min(1_000, bodyTimeoutMs)).unref()
  app.addHook('onClose', async () => clearInterval(timer))
  return (raw) => void arriving.delete(raw)

  function sweep(): void {
    const now = Date.now()
    for (const [raw, one] of arriving) {
      if (raw.complete || raw.destroyed || one.reply.raw.headersSent) arriving.delete(raw)
      else if (!isLate(raw, one, now)) continue
      else refuse(one.request, one.reply.header('connection', 'close'), late(one, bodyTimeoutMs))
    }
  }

  /** A stream is late when its sender pauses, not when it is long, nor while what has come waits for us. */
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
 * Ends a request that was answered before its body was read. A short rest is received and dropped, and the connection stays
 * open. A long one, or one of unknown length, stays in the sender's buffers, since each chunk received is memory until the
 * next garbage collection; the connection is closed for writing, so that no sender uses it for another request.
 */
export function dropBody(raw: IncomingMessage): void {
  if (raw.complete || raw.destroyed) return
  if (!(Number(raw.headers['content-length']) <= mostDropped)) {
    // Node resumes an unread request by itself once it is answered: a pause in the same turn would be undone.
    setImmediate(() => raw.socket.pause().end())
  }
  const timer = setTimeout(() => raw.destroy(), graceMs).unref()
  raw.once('close', () => clearTimeout(timer))
}

interface Budget {
  /** @returns whether there was so much left; only then it is taken */
  take(bytes: number): boolean
  giveBack(bytes: number): void
}

function createBudget(most: number): Budget {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > most) return false
      taken += bytes
      return true
    },
    giveBack(bytes) {
      taken -= bytes
    },
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function isStreamed(request: FastifyRequest): boolean {
  return request.routeOptions.config?.streamed?.includes(mediaTypeOf(request)) ?? false
}

/** @example 'application/json' of 'Application/JSON; charset=utf-8'; '' where the request names none */
export function mediaTypeOf({ headers }: FastifyRequest): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function tooMuch(): HttpError {
  return new HttpError(503, 'too many request bodies are being read at the moment: send it again', 1)
}

function late({ streamed }: Arriving, timeoutMs: number): HttpError {
  return new HttpError(
    408,
    streamed
      ? `nothing more of the body came for ${timeoutMs} ms: send it again, what was taken is not taken twice`
      : `the body did not arrive whole within ${timeoutMs} ms: send it faster, or in smaller parts`,
  )
}
