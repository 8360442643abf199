// One connection over node:http2: how many streams are free, and how each request ends.

import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, sensitiveHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { clock } from '../runtime/clock.ts'
import {
  type Connection,
  type ConnectionListener,
  type ConnectionOptions,
  type End,
  type Exchanged,
  lingerMs,
  mostAnswerBytes,
  streamReset,
} from './connection.ts'
import { openSocket } from './socket.ts'

const { NGHTTP2_REFUSED_STREAM, NGHTTP2_CANCEL } = constants

export function openNodeConnection(options: ConnectionOptions, listener: ConnectionListener): Connection {
  const { origin, limits } = options
  let state: Connection['state'] = 'opening'
  let inFlight = 0
  let receivedAt = clock.monotonic()
  let error: Error | undefined
  /** The peer has not processed streams with higher numbers (RFC 9113 §6.8). */
  let lastProcessed = Number.POSITIVE_INFINITY
  let mostStreams = 0
  let opened = false
  let requested = false

  const { protocol, host } = new URL(origin)
  const everyRequest = [':method', 'POST', ':scheme', protocol.slice(0, -1), ':authority', host]
  let socket: Socket | undefined
  const session: ClientHttp2Session = connect(origin, {
    createConnection: () => {
      socket = openSocket(options, () => {})
      return socket
    },
  })
  let destroyTimer: NodeJS.Timeout | undefined
  const { connectTimeoutMs, pingAfterMs, pingTimeoutMs } = limits
  let timeout = clock.setTimeout(() => fail(`no HTTP/2 connection within ${connectTimeoutMs} ms`), connectTimeoutMs)
  const silenceCheck = clock
    .setInterval(() => {
      if (state === 'open' && inFlight > 0 && clock.monotonic() - receivedAt > pingAfterMs) ping()
    }, pingAfterMs / 4)
    .unref()

  // The peer's settings limit the number of streams. APNs begins with 1 and raises the limit later.
  session.on('remoteSettings', ({ maxConcurrentStreams = 100 }) => {
    receivedAt = clock.monotonic()
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
      receivedAt = clock.monotonic()
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
      if (inFlight === 0 && clock.monotonic() - receivedAt > pingAfterMs) {
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
        receivedAt = clock.monotonic()
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
        return true
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
