// One HTTP/2 session: how many streams are free, and how each request ends.

import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, sensitiveHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { clock } from '../../runtime/clock.ts'
import type { Exchanged } from '../exchange.ts'

export interface Http2Request {
  readonly path: string
  /** Names in lower case and values, alternating. An object instead of this array would cost a sixth of a request's CPU. */
  readonly headers: readonly string[]
  /** Names of headers whose values differ in each request. The HPACK table keeps their names, but not their values. */
  readonly unindexed?: readonly string[]
  readonly body: string
}

/**
 * How a request ended. 'refused' (the peer reset the stream) and 'unprocessed' (the connection ended first): the protocol
 * guarantees that the peer has not processed the request, so it can be sent again.
 */
export type End = Exchanged | 'refused' | 'unprocessed'

export interface ConnectionLimits {
  /** Maximum number of concurrent streams, even if the peer allows more. */
  readonly streams: number
  readonly connectTimeoutMs: number
  /** If nothing was received from the peer for this time, it must answer a PING before it gets another request. */
  readonly pingAfterMs: number
  readonly pingTimeoutMs: number
}

export interface Connection {
  /** pinging: a PING is not answered yet; draining: no further requests are started, and requests in flight may end. */
  readonly state: 'opening' | 'open' | 'pinging' | 'draining' | 'ended'
  /** How many more requests can be started now. Sends a PING and returns 0 if the idle peer has been silent for `pingAfterMs`. */
  freeStreams(): number
  /** @returns a function that cancels the request */
  start(request: Http2Request, onEnd: (end: End) => void): (reason: 'late' | 'aborted') => void
  /** Closes the connection when no request is in flight, or after `withinMs`. */
  close(withinMs: number): Promise<void>
}

export interface ConnectionListener {
  /** The number of free streams may have changed. */
  changed(): void
  /** @param opened whether the connection was ever usable */
  ended(error: Error, opened: boolean): void
}

/** The `code` of an error that concerns one stream, not the connection. */
export const streamReset = 'STREAM_RESET'

/** The `code` of an error for a request that cannot be encoded, and so was not sent. */
export const notEncodable = 'NOT_ENCODABLE'

/** Answers of push providers are always shorter. */
const mostAnswerBytes = 64 * 1024
/** With no requests in flight, the time that remains for the last frames. */
const lingerMs = 250
const { NGHTTP2_REFUSED_STREAM, NGHTTP2_CANCEL } = constants

/** Opens a session to an origin: TLS for https, HTTP/2 without it (prior knowledge) for http. */
export function openConnection(
  origin: string,
  ca: string | undefined,
  limits: ConnectionLimits,
  listener: ConnectionListener,
): Connection {
  let state: Connection['state'] = 'opening'
  let inFlight = 0
  let receivedAt = clock.now()
  let error: Error | undefined
  /** The peer has not processed streams with higher numbers (RFC 9113 §6.8). */
  let lastProcessed = Number.POSITIVE_INFINITY
  let mostStreams = 0
  let opened = false
  let requested = false

  const { protocol, host } = new URL(origin)
  const everyRequest = [':method', 'POST', ':scheme', protocol.slice(0, -1), ':authority', host]
  const session: ClientHttp2Session = connect(origin, ca === undefined ? {} : { ca })
  let socket: Socket | undefined
  let destroyTimer: NodeJS.Timeout | undefined
  session.on('connect', (_session, connected) => {
    socket = connected
  })
  const { connectTimeoutMs, pingAfterMs, pingTimeoutMs } = limits
  let timeout = clock.setTimeout(() => fail(`no HTTP/2 connection within ${connectTimeoutMs} ms`), connectTimeoutMs)
  const silenceCheck = clock
    .setInterval(() => {
      if (state === 'open' && inFlight > 0 && clock.now() - receivedAt > pingAfterMs) ping()
    }, pingAfterMs / 4)
    .unref()

  // The peer's settings limit the number of streams. APNs begins with 1 and raises the limit later.
  session.on('remoteSettings', ({ maxConcurrentStreams = 100 }) => {
    receivedAt = clock.now()
    mostStreams = Math.min(limits.streams, maxConcurrentStreams)
    if (state === 'opening') {
      clock.clearTimeout(timeout)
      state = 'open'
      opened = true
    }
    listener.changed()
  })
  session.on('goaway', (code, lastStream, data) => {
    lastProcessed = Math.min(lastProcessed, lastStream)
    error ??= new Error(`the other side ended the connection (GOAWAY ${code}${readReason(data)})`)
    if (state !== 'ended') state = 'draining'
    if (inFlight === 0) destroyLater()
  })
  session.on('error', (happened) => {
    error ??= happened
  })
  session.on('close', () => {
    state = 'ended'
    clock.clearTimeout(timeout)
    clock.clearTimeout(destroyTimer)
    clock.clearInterval(silenceCheck)
    listener.ended(error ?? new Error('the other side closed the connection'), opened)
  })

  /** Node waits for the peer to close its half of the connection, and some peers never do. */
  function destroyLater(withinMs = lingerMs): void {
    clock.clearTimeout(destroyTimer)
    destroyTimer = clock.setTimeout(() => {
      session.destroy()
      socket?.destroy()
    }, withinMs)
  }

  function fail(reason: string): void {
    error ??= new Error(reason)
    if (state !== 'opening') state = 'draining'
    session.destroy()
    socket?.destroy()
  }

  function ping(): void {
    if (session.closed || session.destroyed) return
    state = 'pinging'
    timeout = clock.setTimeout(() => fail(`stalled: no answer to a PING within ${pingTimeoutMs} ms`), pingTimeoutMs)
    session.ping((pingError) => {
      clock.clearTimeout(timeout)
      if (pingError) fail(pingError.message)
      if (state !== 'pinging') return
      receivedAt = clock.now()
      state = 'open'
      listener.changed()
    })
  }

  function endOf(stream: ClientHttp2Stream): End {
    // A stream without a number was never sent.
    if (stream.id === undefined || stream.id > lastProcessed) return 'unprocessed'
    if (stream.rstCode === NGHTTP2_REFUSED_STREAM) return 'refused'
    const lost = session.destroyed ? (error ?? new Error('the connection was lost')) : resetError(stream.rstCode)
    return { lost, written: true }
  }

  return {
    get state() {
      return state
    },
    freeStreams() {
      if (state !== 'open' || session.closed || session.destroyed) return 0
      if (inFlight === 0 && clock.now() - receivedAt > pingAfterMs) {
        ping()
        return 0
      }
      return mostStreams - inFlight
    },
    start({ path, headers, unindexed, body }, onEnd) {
      const all = [...everyRequest, ':path', path, ...headers]
      if (requested && unindexed) Object.assign(all, { [sensitiveHeaders]: unindexed })
      requested = true
      const stream = session.request(all)
      inFlight++
      let status: number | undefined
      let answerHeaders: Extract<Exchanged, { status: number }>['headers'] = {}
      const chunks: Buffer[] = []
      let bytes = 0
      // Called once, then released: Node keeps a closed stream for long, and the request must not stay in memory with it.
      let callback: typeof onEnd | undefined = onEnd
      const finish = (end: End): void => {
        const callOnce = callback
        callback = undefined
        callOnce?.(end)
      }
      stream.on('response', (responseHeaders) => {
        receivedAt = clock.now()
        status = responseHeaders[':status']
        answerHeaders = responseHeaders as typeof answerHeaders
      })
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= mostAnswerBytes) chunks.push(chunk)
      })
      stream.on('end', () => {
        if (status === undefined) return
        const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
        finish({ status, headers: answerHeaders, body, cut: bytes > mostAnswerBytes })
      })
      // 'close' follows every 'error', and its handler ends the request.
      stream.on('error', () => {})
      stream.on('close', () => {
        inFlight--
        if (callback) finish(endOf(stream))
        if (state === 'draining' && inFlight === 0) destroyLater()
        listener.changed()
      })
      stream.end(body)
      return (reason) => {
        callback = undefined
        stream.close(NGHTTP2_CANCEL)
        // The peer may be slow or dead. It gets no further request before it has answered a PING.
        if (reason === 'late' && state === 'open') ping()
      }
    },
    async close(withinMs) {
      if (state === 'ended') return
      const { promise, resolve } = Promise.withResolvers<void>()
      session.once('close', () => resolve())
      if (state === 'opening') session.destroy()
      else {
        state = 'draining'
        session.close()
      }
      destroyLater(inFlight === 0 ? lingerMs : withinMs)
      await promise
    },
  }
}

/** The debug data of a GOAWAY frame, if it is text. APNs gives the reason there as JSON. */
function readReason(data: Buffer | undefined): string {
  const text = data?.subarray(0, 200).toString('latin1') ?? ''
  return /^[\x20-\x7e]+$/.test(text) ? `: ${text}` : ''
}

function resetError(code: number | undefined): Error {
  return Object.assign(new Error(`the other side reset the stream (code ${code})`), { code: streamReset })
}
