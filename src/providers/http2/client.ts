// HTTP/2 over node:http2, for the services that are reached by many small requests: FCM and APNs.
//
// undici speaks HTTP/2 too and recovers by itself, but costs nearly twice the CPU for a message (docs/performance.md).
// What it takes to recover is in connection.ts: the peer says which streams it has not looked at, and those are sent again.

import type { Exchanged } from '../exchange.ts'
import { type Connection, type ConnectionLimits, type End, type Http2Request, openConnection } from './connection.ts'

export interface Http2Options extends Partial<ConnectionLimits> {
  /** https://api.push.apple.com; http:// speaks HTTP/2 without TLS. */
  readonly origin: string
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string
  /** Most sessions at a time; another is opened when those there are full. */
  readonly connections?: number
}

export interface Asked extends Http2Request {
  /** Epoch milliseconds: no answer comes later. */
  readonly deadline: number
  readonly signal: AbortSignal
}

export interface Http2Client {
  /** POSTs and collects the answer. Never rejects. Written: the other side may have acted on the request. */
  post(asked: Asked): Promise<Exchanged>
  /** Nothing new is taken; what is under way may end within a few seconds. */
  close(): Promise<void>
}

/** A peer that refuses the same request again and again would be asked for ever. Connections that end are often no fault of it. */
const mostResends = { refused: 5, 'left behind': 100 }
/** With others at work, a session that could not be opened is not tried again at once. */
const reopenAfterMs = 1_000
const closeWithinMs = 5_000
const defaults: ConnectionLimits = { streams: 1_000, connectMs: 10_000, silentMs: 10_000, pongMs: 5_000 }

interface Job {
  readonly asked: Asked
  readonly done: (exchanged: Exchanged) => void
  resends: number
  giveUp?: ((why: 'late' | 'aborted') => void) | undefined
}

/**
 * @example
 * const client = createHttp2Client({ origin: 'https://api.push.apple.com', connections: 2 })
 * const answer = await client.post({ path: '/3/device/…', headers, body, deadline: Date.now() + 10_000, signal })
 * // { status: 200, headers, body, cut } or { lost: Error, written: true }
 */
export function createHttp2Client(options: Http2Options): Http2Client {
  const { origin, ca, connections: most = 1, ...limits } = options
  const connections = new Set<Connection>()
  /** Without a stream, in order of arrival; those that were refused go first. */
  const waiting = new Set<Job>()
  const refused = new Set<Job>()
  let closed = false
  let mayOpenAt = 0

  function place(job: Job): void {
    for (const connection of connections) {
      if (connection.free() <= 0) continue
      start(job, connection)
      return
    }
    ;(job.resends > 0 ? refused : waiting).add(job)
    open()
  }

  function start(job: Job, connection: Connection): void {
    forget(job)
    try {
      job.giveUp = connection.start(job.asked, (end) => ended(job, end))
    } catch (error) {
      // A header that cannot be written, say: nothing left.
      job.done({ lost: error as Error, written: false })
    }
  }

  function forget(job: Job): void {
    waiting.delete(job)
    refused.delete(job)
  }

  function ended(job: Job, end: End): void {
    job.giveUp = undefined
    if (typeof end === 'object') job.done(end)
    else if (closed || ++job.resends > mostResends[end])
      job.done({ lost: new Error('the other side refused the request without looking at it'), written: false })
    else place(job)
  }

  function open(): void {
    let usable = 0
    for (const connection of connections) {
      if (connection.state === 'opening') return
      if (isUsable(connection)) usable++
    }
    if (closed || usable >= most || (usable > 0 && Date.now() < mayOpenAt)) return
    const connection = openConnection(
      origin,
      ca,
      { ...defaults, ...limits },
      {
        changed() {
          pump(connection)
          if (waiting.size + refused.size > 0) open()
        },
        ended(error, opened) {
          connections.delete(connection)
          if (!opened) mayOpenAt = Date.now() + reopenAfterMs
          if (!opened && ![...connections].some(isUsable))
            for (const job of [...refused, ...waiting]) job.done({ lost: error, written: false })
          if (waiting.size + refused.size > 0) open()
        },
      },
    )
    connections.add(connection)
  }

  function pump(connection: Connection): void {
    if (waiting.size + refused.size === 0) return
    let free = connection.free()
    for (const jobs of [refused, waiting]) {
      for (const job of jobs) {
        if (free-- <= 0) return
        start(job, connection)
      }
    }
  }

  return {
    post(asked) {
      const { deadline, signal } = asked
      return new Promise((resolve) => {
        const done = (exchanged: Exchanged): void => {
          forget(job)
          clearTimeout(timer)
          signal.removeEventListener('abort', abort)
          resolve(exchanged)
        }
        const leave = (why: 'late' | 'aborted', lost: Error): void => {
          const { giveUp } = job
          giveUp?.(why)
          done({ lost, written: giveUp !== undefined })
        }
        const abort = (): void =>
          leave('aborted', signal.reason instanceof Error ? signal.reason : new Error('aborted'))
        const job: Job = { asked, done, resends: 0 }
        const left = deadline - Date.now()
        const timer = setTimeout(() => leave('late', new Error(`no answer within ${left} ms`)), Math.max(0, left))
        signal.addEventListener('abort', abort, { once: true })
        if (signal.aborted) return abort()
        if (left <= 0) return leave('late', new Error('the deadline had passed'))
        if (closed) return done({ lost: new Error('it is closed'), written: false })
        place(job)
      })
    },
    async close() {
      closed = true
      for (const job of [...refused, ...waiting]) job.done({ lost: new Error('it was closed'), written: false })
      await Promise.all([...connections].map((connection) => connection.close(closeWithinMs)))
    },
  }
}

const isUsable = ({ state }: Connection): boolean => state === 'opening' || state === 'open' || state === 'asking'
