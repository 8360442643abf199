// HTTP/2 over node:http2, for the services that are reached by many small requests: FCM and APNs.
//
// undici speaks HTTP/2 too and recovers by itself, but costs nearly twice the CPU for a message (docs/performance.md).
// What it takes to recover is in connection.ts: the peer says which streams it has not looked at, and those are sent again.

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
  /** Listened to once, however many requests share it. */
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
/** Peers end a connection, and with it everybody's requests, over headers that are larger than they take. */
const mostHeaderBytes = 16 * 1024
const defaults: ConnectionLimits = { streams: 1_000, connectMs: 10_000, silentMs: 10_000, pongMs: 5_000 }

interface Job {
  readonly asked: Asked
  readonly done: (exchanged: Exchanged) => void
  /** Its place among those that are not done; -1: it is done. */
  at: number
  /** How often each has happened to it. */
  readonly resends: { refused: number; 'left behind': number }
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
  const connections: Connection[] = []
  /** Without a stream, in order of arrival; those that were refused go first. */
  const waiting: Job[] = []
  const refused: Job[] = []
  /** Not done, in no order. */
  const jobs: Job[] = []
  const listenedTo = new WeakSet<AbortSignal>()
  let closed = false
  let mayOpenAt = 0

  function place(job: Job): void {
    for (const connection of connections) {
      if (connection.free() <= 0) continue
      start(job, connection)
      return
    }
    const { resends } = job
    ;(resends.refused + resends['left behind'] > 0 ? refused : waiting).push(job)
    open()
  }

  function start(job: Job, connection: Connection): void {
    try {
      job.giveUp = connection.start(job.asked, (end) => ended(job, end))
    } catch (error) {
      // node:http2 throws a TypeError for a header that it does not write. Nothing left.
      const { message } = error as Error
      job.done({ lost: error instanceof TypeError ? unencodable(message) : (error as Error), written: false })
    }
  }

  /** It waits no longer. */
  function forget(job: Job): void {
    for (const line of [waiting, refused]) {
      const at = line.indexOf(job)
      if (at >= 0) line.splice(at, 1)
    }
  }

  function ended(job: Job, end: End): void {
    job.giveUp = undefined
    if (typeof end === 'object') job.done(end)
    else if (closed || ++job.resends[end] > mostResends[end])
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
          if (waiting.length + refused.length > 0) open()
        },
        ended(error, opened) {
          connections.splice(connections.indexOf(connection), 1)
          if (!opened) mayOpenAt = Date.now() + reopenAfterMs
          if (!opened && !connections.some(isUsable))
            for (const job of [...refused.splice(0), ...waiting.splice(0)]) job.done({ lost: error, written: false })
          if (waiting.length + refused.length > 0) open()
        },
      },
    )
    connections.push(connection)
  }

  function pump(connection: Connection): void {
    if (waiting.length + refused.length === 0) return
    for (let free = connection.free(); free > 0; free--) {
      const job = refused.shift() ?? waiting.shift()
      if (!job) return
      start(job, connection)
    }
  }

  /** Ends a wait: whoever waits is told, and what is under way is given up. */
  function leave(job: Job, why: 'late' | 'aborted', lost: Error): void {
    const { giveUp } = job
    giveUp?.(why)
    if (!giveUp) forget(job)
    job.done({ lost, written: giveUp !== undefined })
  }

  function listen(signal: AbortSignal): void {
    if (listenedTo.has(signal)) return
    listenedTo.add(signal)
    const abort = (): void => {
      for (const job of jobs.filter(({ asked }) => asked.signal === signal)) leave(job, 'aborted', reasonOf(signal))
    }
    signal.addEventListener('abort', abort, { once: true })
  }

  return {
    post(asked) {
      const { deadline, signal } = asked
      const left = deadline - Date.now()
      if (signal.aborted) return unsent(reasonOf(signal))
      if (left <= 0) return unsent(new Error('the deadline had passed'))
      if (closed) return unsent(new Error('it is closed'))
      const bytes = headerBytes(asked)
      if (bytes > mostHeaderBytes)
        return unsent(
          unencodable(`the headers have ${bytes} bytes and may have ${mostHeaderBytes}: shorten the overrides`),
        )
      listen(signal)
      return new Promise((resolve) => {
        const timer = setTimeout(() => leave(job, 'late', new Error(`no answer within ${left} ms`)), left)
        const job: Job = {
          asked,
          at: jobs.length,
          resends: { refused: 0, 'left behind': 0 },
          done(exchanged) {
            if (job.at < 0) return
            clearTimeout(timer)
            const last = jobs.pop() as Job
            if (last !== job) jobs[job.at] = last
            last.at = job.at
            job.at = -1
            resolve(exchanged)
          },
        }
        jobs.push(job)
        place(job)
      })
    },
    async close() {
      closed = true
      for (const job of [...refused.splice(0), ...waiting.splice(0)])
        job.done({ lost: new Error('it was closed'), written: false })
      await Promise.all([...connections].map((connection) => connection.close(closeWithinMs)))
    },
  }
}

const unencodable = (what: string): Error => Object.assign(new Error(what), { code: notEncodable })

/** As RFC 9113 §6.5.2 counts them, but in characters: our headers are ASCII. */
function headerBytes({ path, headers }: Http2Request): number {
  let bytes = path.length
  for (let i = 0; i < headers.length; i += 2)
    bytes += (headers[i] as string).length + (headers[i + 1] as string).length + 32
  return bytes
}

const isUsable = ({ state }: Connection): boolean => state === 'opening' || state === 'open' || state === 'asking'

const unsent = async (lost: Error): Promise<Exchanged> => ({ lost, written: false })

const reasonOf = ({ reason }: AbortSignal): Error => (reason instanceof Error ? reason : new Error('aborted'))
