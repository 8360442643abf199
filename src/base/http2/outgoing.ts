// The requests on their way out of one connection: waiting requests, and bodies that wait for a window (RFC 9113 §5.2).

import type { End, Http2Request } from './connection.ts'
import { grow } from './flow.ts'
import { defaultWindow, leastMaxFrame } from './frames.ts'
import type { Indexing } from './hpack-encoder.ts'
import { Stream } from './stream.ts'
import { mostBytesOf, type Writer } from './writer.ts'

/** The bytes that the peer may send on a stream before we give some back. */
export const streamReceiveWindow = 1 << 20
/** No further request is encoded when a write has this size. */
const enoughBytes = 64 * 1024
/** A connection has 2^30 streams of ours. */
const lastUsedStream = 0x7fff0000

/** A request that was started. It has a stream when it was written. */
export interface Started {
  readonly request: Http2Request
  readonly onEnd: (end: End) => void
  stream: Stream | undefined
  cancelled: boolean
}

export class Outgoing {
  /** By number. A stream that has ended is not in it. */
  readonly streams = new Map<number, Stream>()
  /** SETTINGS_MAX_CONCURRENT_STREAMS of the peer, or our own limit. */
  maxStreams: number
  /** The number of the next stream. */
  nextStream = 1
  /** The number of requests that were started and not written. */
  waiting = 0
  readonly #writer: Writer
  readonly #everyRequest: readonly string[]
  /** Streams whose body waits for a window. */
  readonly #blocked = new Set<Stream>()
  #queue: Started[] = []
  #window = defaultWindow
  #initialWindow = defaultWindow
  #lastPath: string | undefined

  constructor(writer: Writer, origin: string, maxStreams: number) {
    const { protocol, host } = new URL(origin)
    this.#writer = writer
    this.#everyRequest = [':method', 'POST', ':scheme', protocol.slice(0, -1), ':authority', host]
    this.maxStreams = maxStreams
  }

  get inFlight(): number {
    return this.streams.size + this.waiting
  }

  /** Whether the numbers of streams are used up. */
  get isUsedUp(): boolean {
    return this.nextStream > lastUsedStream
  }

  /** Whether write() may have something to write. */
  get isPending(): boolean {
    return this.#queue.length > 0 || this.#blocked.size > 0
  }

  add(request: Http2Request, onEnd: (end: End) => void): Started {
    const started: Started = { request, onEnd, stream: undefined, cancelled: false }
    this.#queue.push(started)
    this.waiting++
    return started
  }

  /** Removes a request that was not written. */
  cancel(started: Started): void {
    started.cancelled = true
    this.waiting--
  }

  /** Removes a stream that has ended. */
  release(stream: Stream): void {
    this.streams.delete(stream.id)
    stream.unsent = undefined
    this.#blocked.delete(stream)
  }

  /** Removes all requests that were not written. */
  takeWaiting(): Started[] {
    const taken = this.#queue.filter(({ cancelled }) => !cancelled)
    this.#queue = []
    this.waiting = 0
    return taken
  }

  /** Applies SETTINGS_INITIAL_WINDOW_SIZE, which also changes the windows of open streams (§6.9.2). */
  resizeWindows(initial: number): void {
    grow(0, initial)
    for (const stream of this.streams.values())
      stream.sendWindow = grow(stream.sendWindow, initial - this.#initialWindow)
    this.#initialWindow = initial
  }

  growWindow(by: number): void {
    this.#window = grow(this.#window, by)
  }

  /** Encodes as much as fits into one write. */
  write(): void {
    this.#writeBodies()
    const queue = this.#queue
    let at = 0
    for (; at < queue.length && this.#writer.length < enoughBytes; at++) {
      // The peer may have lowered its limit since the request was started.
      if (this.streams.size >= this.maxStreams) break
      const started = queue[at] as Started
      if (started.cancelled) continue
      this.waiting--
      this.#writeRequest(started)
    }
    this.#queue = at === queue.length ? [] : queue.slice(at)
  }

  #writeRequest(started: Started): void {
    const { path, headers, unindexed, body } = started.request
    const stream = new Stream(this.nextStream, this.#initialWindow, streamReceiveWindow, started.onEnd)
    started.stream = stream
    this.nextStream += 2
    this.streams.set(stream.id, stream)
    // A path that repeats is the same for all requests.
    const pathIndexing: Indexing = path === this.#lastPath ? 'table' : 'once'
    this.#lastPath = path
    const fields = [...this.#everyRequest, ':path', path, ...headers]
    const pathAt = this.#everyRequest.length
    const indexingOf = (at: number): Indexing => {
      if (at === pathAt) return pathIndexing
      const name = fields[at] as string
      // A credential is in no table (RFC 7541 §7.1.3).
      return name === 'authorization' || unindexed?.includes(name) ? 'nameOnly' : 'table'
    }
    this.#writer.writeHeaders(stream.id, fields, indexingOf, body.length === 0)
    if (body.length === 0) return
    const mostBytes = mostBytesOf(body)
    if (mostBytes <= Math.min(stream.sendWindow, this.#window, this.#writer.maxFrame)) {
      const bytes = this.#writer.writeBody(stream.id, body)
      stream.sendWindow -= bytes
      this.#window -= bytes
      return
    }
    stream.unsent = typeof body === 'string' ? Buffer.from(body) : body
    this.#blocked.add(stream)
    this.#writeBodies()
  }

  /** Sends one frame for each blocked stream in turn, as far as the windows allow. */
  #writeBodies(): void {
    for (let progress = this.#blocked.size > 0; progress; ) {
      progress = false
      for (const stream of this.#blocked) {
        const { unsent } = stream
        if (!unsent || this.#writer.length >= enoughBytes) return
        const bytes = Math.min(unsent.length, stream.sendWindow, this.#window, leastMaxFrame)
        if (bytes <= 0) continue
        const ends = bytes === unsent.length
        this.#writer.writeData(stream.id, unsent.subarray(0, bytes), ends)
        stream.sendWindow -= bytes
        this.#window -= bytes
        stream.unsent = ends ? undefined : unsent.subarray(bytes)
        if (ends) this.#blocked.delete(stream)
        progress = true
      }
    }
  }
}
