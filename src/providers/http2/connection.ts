// One HTTP/2 session: what it can take now, and how each request on it ends.

import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, sensitiveHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import type { Exchanged } from '../exchange.ts'

export interface Http2Request {
  readonly path: string
  /** Names, in small letters, and values in turn: as an object they would cost a sixth of a request's CPU. */
  readonly headers: readonly string[]
  /** Names of headers with other values each time. Their names are kept in the table that both sides share (HPACK), not those. */
  readonly unindexed?: readonly string[]
  readonly body: string
}

/**
 * refused, left behind (by a connection that ended): the peer did not look at it, and it may be sent again. That is known, not
 * guessed.
 */
export type End = Exchanged | 'refused' | 'left behind'

export interface ConnectionLimits {
  /** Requests at a time, where the peer allows more. */
  readonly streams: number
  readonly connectMs: number
  /** After so long without a word from the peer it is asked for one (PING) before it gets anything new. */
  readonly silentMs: number
  /** How long the peer may take to answer a PING. */
  readonly pongMs: number
}

export interface Connection {
  /** opening, open; asking: a PING is out; leaving: takes nothing new, what is under way may end; ended. */
  readonly state: 'opening' | 'open' | 'asking' | 'leaving' | 'ended'
  /** How many more requests it takes now. Of a peer that has been silent for long it is first asked whether it is there. */
  free(): number
  /** @returns a function that gives the request up */
  start(request: Http2Request, ended: (end: End) => void): (why: 'late' | 'aborted') => void
  /** Lets what is under way end, but no longer than this. */
  close(withinMs: number): Promise<void>
}

export interface ConnectionListener {
  /** There may be room for more. */
  changed(): void
  /** @param opened whether it had ever been usable */
  ended(error: Error, opened: boolean): void
}

/** The `code` of an error that is about one stream, not about the connection. */
export const streamReset = 'STREAM_RESET'

/** The `code` of an error about a request that cannot be written: it never left. */
export const notEncodable = 'NOT_ENCODABLE'

/** An answer of a push provider is never longer. */
const mostAnswerBytes = 64 * 1024
/** With nothing under way, so long for the last frames. */
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
  let underWay = 0
  let heardAt = Date.now()
  let error: Error | undefined
  /** Streams with higher numbers were not looked at (RFC 9113 §6.8). */
  let lastLookedAt = Number.POSITIVE_INFINITY
  let most = 0
  let opened = false
  let begun = false

  const { protocol, host } = new URL(origin)
  const everyRequest = [':method', 'POST', ':scheme', protocol.slice(0, -1), ':authority', host]
  const session: ClientHttp2Session = connect(origin, ca === undefined ? {} : { ca })
  let socket: Socket | undefined
  let hangingUp: NodeJS.Timeout | undefined
  session.on('connect', (_session, connected) => {
    socket = connected
  })
  let patience = setTimeout(() => give(`no HTTP/2 connection within ${limits.connectMs} ms`), limits.connectMs)
  const watch = setInterval(() => {
    if (state === 'open' && underWay > 0 && Date.now() - heardAt > limits.silentMs) ask()
  }, limits.silentMs / 4).unref()

  // Only the peer's settings say how many streams it takes; APNs begins with 1 and raises it later.
  session.on('remoteSettings', ({ maxConcurrentStreams = 100 }) => {
    heardAt = Date.now()
    most = Math.min(limits.streams, maxConcurrentStreams)
    if (state === 'opening') {
      clearTimeout(patience)
      state = 'open'
      opened = true
    }
    listener.changed()
  })
  session.on('goaway', (code, lastStream, why) => {
    lastLookedAt = Math.min(lastLookedAt, lastStream)
    error ??= new Error(`the other side ended the connection (GOAWAY ${code}${readable(why)})`)
    if (state !== 'ended') state = 'leaving'
    if (underWay === 0) hangUp()
  })
  session.on('error', (happened) => {
    error ??= happened
  })
  session.on('close', () => {
    state = 'ended'
    clearTimeout(patience)
    clearTimeout(hangingUp)
    clearInterval(watch)
    listener.ended(error ?? new Error('the other side closed the connection'), opened)
  })

  /** Node waits for the peer to close its half, and some never do. */
  function hangUp(withinMs = lingerMs): void {
    clearTimeout(hangingUp)
    hangingUp = setTimeout(() => {
      session.destroy()
      socket?.destroy()
    }, withinMs)
  }

  function give(why: string): void {
    error ??= new Error(why)
    if (state !== 'opening') state = 'leaving'
    session.destroy()
    socket?.destroy()
  }

  function ask(): void {
    if (session.closed || session.destroyed) return
    state = 'asking'
    patience = setTimeout(() => give(`stalled: no answer to a PING within ${limits.pongMs} ms`), limits.pongMs)
    session.ping((refused) => {
      clearTimeout(patience)
      if (refused) give(refused.message)
      if (state !== 'asking') return
      heardAt = Date.now()
      state = 'open'
      listener.changed()
    })
  }

  function end(stream: ClientHttp2Stream): End {
    // Without a number it never went out.
    if (stream.id === undefined || stream.id > lastLookedAt) return 'left behind'
    if (stream.rstCode === NGHTTP2_REFUSED_STREAM) return 'refused'
    const lost = session.destroyed ? (error ?? new Error('the connection was lost')) : wasReset(stream.rstCode)
    return { lost, written: true }
  }

  return {
    get state() {
      return state
    },
    free() {
      if (state !== 'open' || session.closed || session.destroyed) return 0
      if (underWay === 0 && Date.now() - heardAt > limits.silentMs) {
        ask()
        return 0
      }
      return most - underWay
    },
    start({ path, headers, unindexed, body }, ended) {
      const all = [...everyRequest, ':path', path, ...headers]
      if (begun && unindexed) Object.assign(all, { [sensitiveHeaders]: unindexed })
      begun = true
      const stream = session.request(all)
      underWay++
      let status: number | undefined
      let answered: Extract<Exchanged, { status: number }>['headers'] = {}
      const chunks: Buffer[] = []
      let bytes = 0
      // Told once. Node keeps a stream for long after it has closed: what belongs to the request must not hang on it.
      let tell: typeof ended | undefined = ended
      const finish = (end: End): void => {
        const told = tell
        tell = undefined
        told?.(end)
      }
      stream.on('response', (responseHeaders) => {
        heardAt = Date.now()
        status = responseHeaders[':status']
        answered = responseHeaders as typeof answered
      })
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= mostAnswerBytes) chunks.push(chunk)
      })
      stream.on('end', () => {
        if (status === undefined) return
        const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
        finish({ status, headers: answered, body, cut: bytes > mostAnswerBytes })
      })
      // Told by 'close', which follows whatever happens.
      stream.on('error', () => {})
      stream.on('close', () => {
        underWay--
        if (tell) finish(end(stream))
        if (state === 'leaving' && underWay === 0) hangUp()
        listener.changed()
      })
      stream.end(body)
      return (why) => {
        tell = undefined
        stream.close(NGHTTP2_CANCEL)
        // Slow, or gone? Nothing new goes there before that is known.
        if (why === 'late' && state === 'open') ask()
      }
    },
    async close(withinMs) {
      if (state === 'ended') return
      const { promise, resolve } = Promise.withResolvers<void>()
      session.once('close', () => resolve())
      if (state === 'opening') session.destroy()
      else {
        state = 'leaving'
        session.close()
      }
      hangUp(underWay === 0 ? lingerMs : withinMs)
      await promise
    },
  }
}

/** APNs says why, as JSON, in the GOAWAY frame. */
function readable(why: Buffer | undefined): string {
  const text = why?.subarray(0, 200).toString('latin1') ?? ''
  return /^[\x20-\x7e]+$/.test(text) ? `: ${text}` : ''
}

function wasReset(code: number | undefined): Error {
  return Object.assign(new Error(`the other side reset the stream (code ${code})`), { code: streamReset })
}
