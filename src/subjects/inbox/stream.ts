import { ServerResponse } from 'node:http'

export type EndReason = 'client' | 'slow' | 'expired' | 'refused' | 'replaced' | 'revoked' | 'stopping'

/** One open response of GET /app/inbox/stream. It writes bytes, which the hub chooses. */
export interface Stream {
  readonly brand: string
  readonly userId: string
  /** The time of issue of its token, in epoch milliseconds. */
  readonly issuedAt: number
  /** Expiry of its token, in epoch milliseconds. */
  readonly expiresAt: number
  /** The last number that was sent. Undefined: the stream starts with the next notification. */
  after: number | undefined
  /** The event `ready` was sent. */
  ready: boolean
  /** The counts that the client has, as JSON. */
  counts: string | undefined
  /** More events are in the store, but the client has not read the previous ones. */
  behind: boolean
  nextPingAt: number
  /** The socket's write buffer is full; onDrain is called when it is empty again. */
  readonly blocked: boolean
  /** The last time when the stream was not blocked, in epoch milliseconds. */
  lastUnblockedAt: number
  write(bytes: Buffer): void
  end(why: EndReason): void
}

/** Takes over a response and writes its head. */
export function openStream(
  response: ServerResponse,
  options: Pick<Stream, 'brand' | 'userId' | 'after' | 'issuedAt' | 'expiresAt'> & {
    readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
    readonly retryMs: number
    readonly onDrain: (stream: Stream) => void
    readonly onEnd: (stream: Stream, why: EndReason) => void
  },
): Stream {
  const { brand, userId, after, issuedAt, expiresAt, headers, retryMs, onDrain, onEnd } = options
  // Of HTTP/1.1, the body goes straight to the socket: a response buffers each write until the end of the turn.
  const sink = (response instanceof ServerResponse && response.socket) || response
  let open = true
  const stream: Stream = {
    brand,
    userId,
    issuedAt,
    expiresAt,
    after,
    ready: false,
    counts: undefined,
    behind: false,
    nextPingAt: 0,
    lastUnblockedAt: 0,
    get blocked() {
      return sink.writableNeedDrain
    },
    write(bytes) {
      if (open) sink.write(bytes)
    },
    end(why) {
      if (!open) return
      open = false
      // end() would wait forever for a client that does not read.
      if (why === 'slow' || why === 'replaced') response.destroy()
      else response.end()
      onEnd(stream, why)
    },
  }

  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value)
  response.setHeader('content-type', 'text/event-stream')
  response.setHeader('cache-control', 'no-store, no-transform')
  response.setHeader('x-accel-buffering', 'no')
  // No chunked encoding: the same bytes are written to every socket, and the end of the connection ends the response.
  response.useChunkedEncodingByDefault = false
  response.statusCode = 200
  response.flushHeaders()
  response.socket?.setNoDelay(true)
  response.write(`retry: ${retryMs}\n\n`)
  sink.on('drain', () => onDrain(stream))
  response.on('close', () => stream.end('client'))
  response.on('error', () => stream.end('client'))
  return stream
}
