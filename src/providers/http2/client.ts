// An HTTP/2 client over node:http2, for services that receive many small requests: FCM and APNs.
//
// undici supports HTTP/2 too and recovers by itself, but uses nearly twice the CPU for a message (docs/performance-notes.md). Here
// recovery relies on connection.ts: the peer reports the streams that it has not processed, and their requests are sent again.

import { clock } from '../../runtime/clock.ts'
import type { Exchanged } from '../exchange.ts'
import {
  type Connection,
  type ConnectionLimits,
  type End,
  type Http2Request,
  notEncodable,
  openConnection,
} from './connection.ts'

export interface Http2Options extends Partial<ConnectionLimits> {
  /** https://api.push.apple.com. An http:// origin uses HTTP/2 without TLS. */
  readonly origin: string
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string
  /** Maximum number of sessions. A further session is opened when the streams of the others are in use. */
  readonly connections?: number
}

export interface PostRequest extends Http2Request {
  /** Epoch milliseconds. The answer is not awaited any longer. */
  readonly deadline: number
  /** The client adds one listener to a signal, even if many requests share it. */
  readonly signal: AbortSignal
}

export interface Http2Client {
  /** POSTs and collects the answer. Never rejects. `written`: the other side may have acted on the request. */
  post(request: PostRequest): Promise<Exchanged>
  /** Accepts no further requests, and gives requests in flight a grace period of 5 seconds. */
  close(): Promise<void>
}

/** Maximum number of resends of one request. The limit after refusals is low: a peer may refuse the same request every time. */
const mostResends = { refused: 5, unprocessed: 100 }
/** While other sessions are usable, the next attempt to open a session waits this long after a failed one. */
const reopenAfterMs = 1_000
const closeWithinMs = 5_000
/** If the headers of one request are too large, a peer closes the connection, with all requests on it. */
const mostHeaderBytes = 16 * 1024
const defaults: ConnectionLimits = {
  streams: 1_000,
  connectTimeoutMs: 10_000,
  pingAfterMs: 10_000,
  pingTimeoutMs: 5_000,
}

interface Job {
  readonly request: PostRequest
  readonly done: (exchanged: Exchanged) => void
  /** Index in `jobs`; -1: the job is done. */
  index: number
  /** How often the request was refused, and how often it was unprocessed. */
  readonly resends: { refused: number; unprocessed: number }
  cancelStream?: ((reason: 'late' | 'aborted') => void) | undefined
}

/**
 * @example
 * const client = createHttp2Client({ origin: 'https://api.push.apple.com', connections: 2 })
 * const answer = await client.post({ path: '/3/device/…', headers, body, deadline: Date.now() + 10_000, signal })
 * // { status: 200, headers, body, cut } or { lost: Error, written: true }
 */
export function createHttp2Client(options: Http2Options): Http2Client {
  const { origin, ca, connections: mostConnections = 1, ...limits } = options
  const connections: Connection[] = []
  /** Jobs that wait for a stream, in order of arrival. Jobs that are sent again go first. */
  const waiting: Job[] = []
  const resending: Job[] = []
  /** All jobs that are not done, in no order. */
  const jobs: Job[] = []
  const watchedSignals = new WeakSet<AbortSignal>()
  let closed = false
  let mayOpenAt = 0

  function startOrQueue(job: Job): void {
    for (const connection of connections) {
      if (connection.freeStreams() <= 0) continue
      start(job, connection)
      return
    }
    const { resends } = job
    ;(resends.refused + resends.unprocessed > 0 ? resending : waiting).push(job)
    openIfNeeded()
  }

  function start(job: Job, connection: Connection): void {
    try {
      job.cancelStream = connection.start(job.request, (end) => finishOrResend(job, end))
    } catch (error) {
      // node:http2 throws a TypeError for an invalid header, before it writes anything.
      const { message } = error as Error
      job.done({ lost: error instanceof TypeError ? unencodable(message) : (error as Error), written: false })
    }
  }

  function removeFromQueues(job: Job): void {
    for (const queue of [waiting, resending]) {
      const index = queue.indexOf(job)
      if (index >= 0) queue.splice(index, 1)
    }
  }

  function finishOrResend(job: Job, end: End): void {
    job.cancelStream = undefined
    if (typeof end === 'object') job.done(end)
    else if (closed || ++job.resends[end] > mostResends[end])
      job.done({ lost: new Error('the other side refused the request without processing it'), written: false })
    else startOrQueue(job)
  }

  function openIfNeeded(): void {
    let usable = 0
    for (const connection of connections) {
      if (connection.state === 'opening') return
      if (isUsable(connection)) usable++
    }
    if (closed || usable >= mostConnections || (usable > 0 && clock.now() < mayOpenAt)) return
    const connection = openConnection(
      origin,
      ca,
      { ...defaults, ...limits },
      {
        changed() {
          startWaiting(connection)
          if (waiting.length + resending.length > 0) openIfNeeded()
        },
        ended(error, opened) {
          connections.splice(connections.indexOf(connection), 1)
          if (!opened) mayOpenAt = clock.now() + reopenAfterMs
          if (!opened && !connections.some(isUsable))
            for (const job of [...resending.splice(0), ...waiting.splice(0)]) job.done({ lost: error, written: false })
          if (waiting.length + resending.length > 0) openIfNeeded()
        },
      },
    )
    connections.push(connection)
  }

  function startWaiting(connection: Connection): void {
    if (waiting.length + resending.length === 0) return
    for (let free = connection.freeStreams(); free > 0; free--) {
      const job = resending.shift() ?? waiting.shift()
      if (!job) return
      start(job, connection)
    }
  }

  /** Resolves the job with an error, and cancels its stream if the request is in flight. */
  function cancel(job: Job, reason: 'late' | 'aborted', lost: Error): void {
    const { cancelStream } = job
    cancelStream?.(reason)
    if (!cancelStream) removeFromQueues(job)
    job.done({ lost, written: cancelStream !== undefined })
  }

  function watchSignal(signal: AbortSignal): void {
    if (watchedSignals.has(signal)) return
    watchedSignals.add(signal)
    const abort = (): void => {
      for (const job of jobs.filter(({ request }) => request.signal === signal))
        cancel(job, 'aborted', reasonOf(signal))
    }
    signal.addEventListener('abort', abort, { once: true })
  }

  return {
    post(request) {
      const { deadline, signal } = request
      const left = deadline - clock.now()
      if (signal.aborted) return unsent(reasonOf(signal))
      if (left <= 0) return unsent(new Error('the deadline had passed'))
      if (closed) return unsent(new Error('the HTTP/2 client is closed'))
      const bytes = headerBytes(request)
      if (bytes > mostHeaderBytes)
        return unsent(
          unencodable(`the headers have ${bytes} bytes; the maximum is ${mostHeaderBytes}: shorten the overrides`),
        )
      watchSignal(signal)
      return new Promise((resolve) => {
        const timer = clock.setTimeout(() => cancel(job, 'late', new Error(`no answer within ${left} ms`)), left)
        const job: Job = {
          request,
          index: jobs.length,
          resends: { refused: 0, unprocessed: 0 },
          done(exchanged) {
            if (job.index < 0) return
            clock.clearTimeout(timer)
            const last = jobs.pop() as Job
            if (last !== job) jobs[job.index] = last
            last.index = job.index
            job.index = -1
            resolve(exchanged)
          },
        }
        jobs.push(job)
        startOrQueue(job)
      })
    },
    async close() {
      closed = true
      for (const job of [...resending.splice(0), ...waiting.splice(0)])
        job.done({ lost: new Error('the HTTP/2 client was closed'), written: false })
      await Promise.all([...connections].map((connection) => connection.close(closeWithinMs)))
    },
  }
}

const unencodable = (problem: string): Error => Object.assign(new Error(problem), { code: notEncodable })

/** The header size by RFC 9113 §6.5.2. Characters are counted as bytes, because our headers are ASCII. */
function headerBytes({ path, headers }: Http2Request): number {
  let bytes = path.length
  for (let i = 0; i < headers.length; i += 2)
    bytes += (headers[i] as string).length + (headers[i + 1] as string).length + 32
  return bytes
}

const isUsable = ({ state }: Connection): boolean => state === 'opening' || state === 'open' || state === 'pinging'

const unsent = async (lost: Error): Promise<Exchanged> => ({ lost, written: false })

const reasonOf = ({ reason }: AbortSignal): Error => (reason instanceof Error ? reason : new Error('aborted'))
