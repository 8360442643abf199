// An HTTP/2 client for services that receive many small requests: a pool of connections to one origin, and the queue before it.
//
//   createHttp2Client({ origin, ca, proxy, connections, ...limits }).post({ path, headers, body, … })
//
// A connection (connection.ts describes it) is a session of our own frames (session.ts). Its parts without a socket: `new Reader(events).read(chunk)` turns bytes into events (reader.ts), and `new Writer()` turns calls into bytes that
// take() returns (writer.ts); each has one direction of HPACK (hpack-decoder.ts, hpack-encoder.ts).
//
// A peer reports the streams that it has not processed, and their requests are sent again on another connection.

import type { LookupFunction, Socket } from 'node:net'
import { clock } from '../runtime/clock.ts'
import {
  type Connection,
  type ConnectionLimits,
  type End,
  type Exchanged,
  type Http2Request,
  notEncodable,
} from './connection.ts'
import { openSession } from './session.ts'
import { openTunnel } from './socket.ts'

export interface Http2Options extends Partial<ConnectionLimits> {
  /** https://api.push.apple.com. An http:// origin uses HTTP/2 without TLS. */
  readonly origin: string
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string | undefined
  /** Resolves the host, unless a proxy does. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** Maximum number of sessions. A further session is opened when the streams of the others are in use. */
  readonly connections?: number
  /** http://user:password@proxy:3128. Connections go through this HTTP proxy (CONNECT). */
  readonly proxy?: string | undefined
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
const sweepEveryMs = 25
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
  /** By the monotonic clock. */
  readonly startedAt: number
  readonly endsAt: number
  /** Index in `jobs`; -1: the job is done. */
  index: number
  /** How often the request was refused, and how often it was unprocessed. */
  readonly resends: { refused: number; unprocessed: number }
  cancelStream?: ((reason: 'late' | 'aborted') => boolean) | undefined
}

/**
 * @example
 * const client = createHttp2Client({ origin: 'https://api.push.apple.com', connections: 2 })
 * const answer = await client.post({ path: '/3/device/…', headers, body, deadline: Date.now() + 10_000, signal })
 * // { status: 200, headers, body, cut } or { lost: Error, written: true }
 */
export function createHttp2Client(options: Http2Options): Http2Client {
  const { origin, ca, lookup, proxy, connections: mostConnections = 1, ...given } = options
  const limits: ConnectionLimits = { ...defaults, ...given }
  const connections: Connection[] = []
  /** Jobs that wait for a stream, in order of arrival. Jobs that are sent again go first. */
  const waiting: Job[] = []
  const resending: Job[] = []
  /** All jobs that are not done, in no order. */
  const jobs: Job[] = []
  const watchedSignals = new WeakSet<AbortSignal>()
  let closed = false
  let mayOpenAt = Number.NEGATIVE_INFINITY
  /** A tunnel through the proxy is being opened. */
  let tunnelling = false
  let sweeping = false

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
      job.done({ lost: error as Error, written: false })
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
    if (tunnelling) return
    let usable = 0
    for (const connection of connections) {
      if (connection.state === 'opening') return
      if (isUsable(connection)) usable++
    }
    if (closed || usable >= mostConnections || (usable > 0 && clock.monotonic() < mayOpenAt)) return
    if (proxy === undefined) return void addConnection(undefined)
    tunnelling = true
    openTunnel(proxy, origin, limits.connectTimeoutMs).then(
      (tunnel) => {
        tunnelling = false
        if (closed) tunnel.destroy()
        else addConnection(tunnel)
      },
      (error: Error) => {
        tunnelling = false
        connectionEnded(error, false)
      },
    )
  }

  function addConnection(tunnel: Socket | undefined): void {
    const connection = openSession(
      { origin, ca, lookup, tunnel, limits },
      {
        changed() {
          startWaiting(connection)
          if (isAnyWaiting()) openIfNeeded()
        },
        ended(error, opened) {
          connections.splice(connections.indexOf(connection), 1)
          connectionEnded(error, opened)
        },
      },
    )
    connections.push(connection)
  }

  /** @param opened whether the connection was ever usable */
  function connectionEnded(error: Error, opened: boolean): void {
    if (!opened) mayOpenAt = clock.monotonic() + reopenAfterMs
    if (!opened && !connections.some(isUsable))
      for (const job of [...resending.splice(0), ...waiting.splice(0)]) job.done({ lost: error, written: false })
    if (isAnyWaiting()) openIfNeeded()
  }

  const isAnyWaiting = (): boolean => waiting.length + resending.length > 0

  function startWaiting(connection: Connection): void {
    if (!isAnyWaiting()) return
    for (let free = connection.freeStreams(); free > 0; free--) {
      const job = resending.shift() ?? waiting.shift()
      if (!job) return
      start(job, connection)
    }
  }

  /** Resolves the job with an error, and cancels its stream if the request is in flight. */
  function cancel(job: Job, reason: 'late' | 'aborted', lost: Error): void {
    const { cancelStream } = job
    const written = cancelStream?.(reason) ?? false
    if (!cancelStream) removeFromQueues(job)
    job.done({ lost, written })
  }

  /** Ends the requests whose deadline has passed. One sweep costs less than a timer for each request. */
  function sweep(): void {
    const now = clock.monotonic()
    for (const job of jobs.filter(({ endsAt }) => endsAt <= now))
      cancel(job, 'late', new Error(`no answer within ${Math.round(now - job.startedAt)} ms`))
    sweeping = jobs.length > 0
    if (sweeping) clock.setTimeout(sweep, sweepEveryMs)
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
      const leftMs = deadline - clock.now()
      if (signal.aborted) return unsent(reasonOf(signal))
      if (leftMs <= 0) return unsent(new Error('the deadline had passed'))
      if (closed) return unsent(new Error('the HTTP/2 client is closed'))
      const problem = findHeaderProblem(request)
      if (problem !== undefined) return unsent(unencodable(problem))
      watchSignal(signal)
      return new Promise((resolve) => {
        const startedAt = clock.monotonic()
        const job: Job = {
          request,
          startedAt,
          endsAt: startedAt + leftMs,
          index: jobs.length,
          resends: { refused: 0, unprocessed: 0 },
          done(exchanged) {
            if (job.index < 0) return
            const last = jobs.pop() as Job
            if (last !== job) jobs[job.index] = last
            last.index = job.index
            job.index = -1
            resolve(exchanged)
          },
        }
        jobs.push(job)
        if (!sweeping) clock.setTimeout(sweep, sweepEveryMs)
        sweeping = true
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

/** @returns why the headers cannot be sent. Characters are counted as bytes, because our headers are ASCII. */
function findHeaderProblem({ path, headers }: Http2Request): string | undefined {
  if (notPrintable.test(path)) return 'the path has a character that is not printable ASCII'
  // The size by RFC 9113 §6.5.2.
  let bytes = path.length
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    bytes += name.length + value.length + 32
    if (!isHeaderName(name)) return `the header ${name} cannot be sent over HTTP/2`
    if (notPrintable.test(value)) return `the value of the header ${name} has a character that is not printable ASCII`
  }
  if (bytes <= mostHeaderBytes) return undefined
  return `the headers have ${bytes} bytes; the maximum is ${mostHeaderBytes}: shorten the overrides`
}

/** Names that were checked before: requests repeat them, and looking up is cheaper than checking. */
const checkedNames = new Set<string>()

function isHeaderName(name: string): boolean {
  if (checkedNames.has(name)) return true
  if (!headerName.test(name) || connectionHeaders.has(name)) return false
  if (checkedNames.size < 1_000) checkedNames.add(name)
  return true
}

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const notPrintable = /[^\x20-\x7e]/
/** Fields of a connection, which HTTP/2 forbids (RFC 9113 §8.2.2). */
const connectionHeaders = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

const isUsable = ({ state }: Connection): boolean => state === 'opening' || state === 'open' || state === 'pinging'

const unsent = async (lost: Error): Promise<Exchanged> => ({ lost, written: false })

const reasonOf = ({ reason }: AbortSignal): Error => (reason instanceof Error ? reason : new Error('aborted'))
