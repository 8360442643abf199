// Limits for request bodies: the total size of all bodies, and the time that one body takes to arrive.

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { clock } from '../runtime/clock.ts'
import { collectBytes } from '../runtime/collect-bytes.ts'
import { HttpError } from './http-error.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Content types whose bodies the handler of this route reads as a stream. */
    readonly streamed?: readonly string[]
    /** The share of the memory for bodies that this route has. Absent: that of all routes without a share. */
    readonly bodies?: BodyShare
  }
}

/** A separate eighth of the memory for bodies: its callers cannot block the callers of other routes. */
export interface BodyShare {
  /** Routes with the same name have the same share. */
  readonly name: string
  /** Time limit for a complete body, if it is shorter than that of all bodies. */
  readonly timeoutMs?: number
  /** Limits the bytes of one caller. */
  readonly perCaller?: { readonly bytes: number; readonly callerOf: (request: FastifyRequest) => string }
}

export interface BodyLimits {
  /** Total received bytes of all bodies, each until its request is answered. A body that exceeds the limit is answered 503. */
  readonly bodyBytesInFlight: number
  /** Time limit for a complete body; for a streamed body, the longest pause. Beyond it, the request is answered 503. */
  readonly bodyTimeoutMs: number
}

export const bodyLimits: BodyLimits = { bodyBytesInFlight: 256 * 1024 * 1024, bodyTimeoutMs: 30_000 }

/** The most memory of a streamed body, however long it is: the block of lines being read, the block being stored, and the longest line. */
const streamBytes = 4 * 1024 * 1024
const sizeOfShare = 1 / 8
/** Grace period between the answer to an unread body and the end of its connection, in which the sender reads the answer. */
const graceMs = 2_000
/** Longest unread body, in bytes, that is still received and dropped: some senders read the answer only after their last byte. */
const mostDropped = 1024 * 1024

interface Arriving {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly streamed: boolean
  readonly timeoutMs: number
  /** When the request began; for a streamed body, when its last bytes arrived. */
  since: number
  bytesRead: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The reply, if the request has a body. In a WeakMap of requests, the reply would refer to its key, and keep the request alive
     * until V8 collects its old space.
     */
    replyToBody: FastifyReply | null
  }
}

type Refuse = (request: FastifyRequest, reply: FastifyReply, error: HttpError) => void

/** Applies the limits to the bodies of all routes of `app`, which receive them as bytes. */
export function boundBodies(app: FastifyInstance, limits: BodyLimits, refuse: Refuse): void {
  const { bodyBytesInFlight, bodyTimeoutMs } = limits
  const arriving = new Map<IncomingMessage, Arriving>()
  app.decorateRequest('replyToBody', null)
  const budgetOf = createBudgets(bodyBytesInFlight)

  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (hasBody(raw)) {
      request.replyToBody = reply
      const { timeoutMs = bodyTimeoutMs } = request.routeOptions.config?.bodies ?? {}
      arriving.set(raw, {
        request,
        reply,
        streamed: isStreamed(request),
        timeoutMs: Math.min(timeoutMs, bodyTimeoutMs),
        since: clock.monotonic(),
        bytesRead: raw.socket.bytesRead,
      })
      reply.raw.once('finish', () => dropBody(raw))
    }
    done()
  })

  // The sender is authenticated by now (onRequest), and the body is still unread.
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw } = request
    if (request.method === 'GET') {
      // No handler reads it, and an answer may stay open for hours.
      raw.resume()
      return done(null, payload)
    }
    if (!arriving.get(raw)?.streamed) return done(null, payload)
    // A short stream counts as its length: callers may send many streams of one record at the same time.
    const bytes = Math.min(streamBytes, Number(raw.headers['content-length'] ?? streamBytes))
    const budget = budgetOf(request)
    if (!budget.reserve(bytes)) return done(overloaded())
    reply.raw.once('close', () => budget.release(bytes))
    done(null, payload)
  })

  app.removeAllContentTypeParsers()
  // Applies to every content type: the interface has only JSON bodies (§4).
  app.addContentTypeParser('*', (request: FastifyRequest, payload: Readable, done: ReceiveDone) => {
    const reply = request.replyToBody
    if (!reply) return done(null, Buffer.alloc(0)) // an empty body
    receive(request, reply, payload, budgetOf(request), (error, body) => {
      arriving.delete(request.raw)
      done(error, body)
    })
  })

  const timer = clock.setInterval(sweep, Math.min(1_000, bodyTimeoutMs)).unref()
  app.addHook('onClose', async () => clock.clearInterval(timer))

  function sweep(): void {
    // A clock that was set must not end requests.
    const now = clock.monotonic()
    for (const [raw, one] of arriving) {
      if (raw.complete || raw.destroyed || one.reply.raw.headersSent) arriving.delete(raw)
      else if (!isLate(raw, one, now)) continue
      else refuse(one.request, one.reply.header('connection', 'close'), timeoutError(one))
    }
  }

  /** A stream is late when its sender pauses: not because it is long, and not while received bytes wait to be read. */
  function isLate(raw: IncomingMessage, one: Arriving, now: number): boolean {
    const { bytesRead } = raw.socket
    if (one.streamed && (bytesRead > one.bytesRead || raw.readableLength > 0)) {
      one.bytesRead = bytesRead
      one.since = now
    }
    return now - one.since >= one.timeoutMs
  }
}

type ReceiveDone = (error: Error | null, body?: Buffer) => void

/**
 * Receives a body. Each chunk is reserved when it arrives, until the request is answered: a declared length alone reserves nothing.
 * Chunks that arrive after an answer, such as 503, are dropped.
 */
function receive(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
  budget: Budget,
  done: ReceiveDone,
): void {
  const { bodyLimit } = request.routeOptions
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) return void done(tooLarge()) // unread
  const collected = collectBytes()
  const stop = (): void => void payload.off('data', onData).off('end', onEnd).off('error', end)
  const end = (error: Error | null): void => {
    stop()
    done(error, error ? undefined : collected.join())
  }
  const onEnd = (): void => end(null)
  const onData = (chunk: Buffer): void => {
    if (collected.bytes + chunk.length > bodyLimit) end(tooLarge())
    else if (!budget.reserve(chunk.length)) end(overloaded())
    else collected.add(chunk)
  }
  reply.raw.once('finish', stop)
  reply.raw.once('close', () => budget.release(collected.bytes))
  payload.on('data', onData).on('end', onEnd).on('error', end)
}

const tooLarge = (): Error => new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()

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
  } else {
    // Node itself resumes only a request that no handler began to read.
    raw.removeAllListeners('readable').resume()
  }
  // A complete body may leave no event, and its connection then serves other requests.
  const end = (): unknown => raw.complete || raw.destroy()
  const timer = clock.setTimeout(end, graceMs).unref()
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

/** The budget of a request: that of the whole app, or that of its share and of its caller. */
function createBudgets(all: number): (request: FastifyRequest) => Budget {
  const withoutShare = createBudget(all)
  const shares = new Map<string, Budget>()
  const callers = new Map<string, number>()
  return (request) => {
    const { config, bodyLimit } = request.routeOptions
    const { bodies } = config ?? {}
    if (!bodies) return withoutShare
    // A share has room for one body.
    const share = shares.get(bodies.name) ?? createBudget(Math.max(all * sizeOfShare, bodyLimit))
    shares.set(bodies.name, share)
    if (!bodies.perCaller) return share
    const { bytes: most, callerOf } = bodies.perCaller
    const caller = callerOf(request)
    return {
      reserve(bytes) {
        const before = callers.get(caller) ?? 0
        if (before + bytes > most || !share.reserve(bytes)) return false
        callers.set(caller, before + bytes)
        return true
      },
      release(bytes) {
        share.release(bytes)
        const left = (callers.get(caller) ?? 0) - bytes
        if (left > 0) callers.set(caller, left)
        else callers.delete(caller)
      },
    }
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
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

/** Not a 4xx: the message may be correct, and on a 4xx the platform would drop the message for good (§7.1). */
function timeoutError({ streamed, timeoutMs }: Arriving): HttpError {
  return new HttpError(
    503,
    streamed
      ? `no data of the body arrived for ${timeoutMs} ms: send it again, records that were accepted are skipped`
      : `the body did not arrive completely within ${timeoutMs} ms: send it faster, or in smaller parts`,
    1,
  )
}
