import type { ServerResponse } from 'node:http'

export type Ended = 'client' | 'slow' | 'expired' | 'refused' | 'stopping'

/** One open response of GET /app/inbox/stream. It writes bytes; what they are is the hub's business. */
export interface Stream {
  readonly brand: string
  readonly userId: string
  /** Epoch milliseconds at which its token ends. */
  readonly expiresAt: number
  /** Its last number; undefined: it wants what comes from now on. */
  after: number | undefined
  /** The client was told that it is up to date. */
  ready: boolean
  /** There is more for it than its client has read so far. */
  full: boolean
  nextBeat: number
  /** More waits for the client than the network takes; onDrain tells the end of it. */
  readonly blocked: boolean
  /** Epoch milliseconds at which it was last seen not blocked. */
  freeAt: number
  write(bytes: Buffer): void
  end(why: Ended): void
}

/** Takes over a response and writes its head. */
export function openStream(
  response: ServerResponse,
  options: Pick<Stream, 'brand' | 'userId' | 'after' | 'expiresAt'> & {
    readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
    readonly retryMs: number
    readonly onDrain: (stream: Stream) => void
    readonly onEnd: (stream: Stream, why: Ended) => void
  },
): Stream {
  const { brand, userId, after, expiresAt, headers, retryMs, onDrain, onEnd } = options
  let open = true
  const stream: Stream = {
    brand,
    userId,
    expiresAt,
    after,
    ready: false,
    full: false,
    nextBeat: 0,
    freeAt: 0,
    get blocked() {
      return response.writableNeedDrain
    },
    write(bytes) {
      if (open) response.write(bytes)
    },
    end(why) {
      if (!open) return
      open = false
      // A client that does not read would keep end() waiting for ever.
      if (why === 'slow') response.destroy()
      else response.end()
      onEnd(stream, why)
    },
  }

  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value)
  response.setHeader('content-type', 'text/event-stream')
  response.setHeader('cache-control', 'no-store, no-transform')
  response.setHeader('x-accel-buffering', 'no')
  // No chunked framing: the same bytes go to every socket. The response ends with its connection.
  response.useChunkedEncodingByDefault = false
  response.statusCode = 200
  response.flushHeaders()
  response.socket?.setNoDelay(true)
  response.write(`retry: ${retryMs}\n\n`)
  response.on('drain', () => onDrain(stream))
  response.on('close', () => stream.end('client'))
  response.on('error', () => stream.end('client'))
  return stream
}
