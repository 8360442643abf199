// Reads the bytes of a peer as events (RFC 9113 §4 and §6). It knows frames and header blocks, but no streams and no socket.

import { ConnectionError, errorCode, flag, frameType, headBytes, leastMaxFrame, maxWindow } from './frames.ts'
import { Decoder, mostHeaderListBytes } from './hpack-decoder.ts'

/** An event may throw a ConnectionError: read() returns it. */
export interface ReaderEvents {
  /** @param fields names and values, alternating */
  onHeaders(stream: number, fields: readonly string[], ends: boolean): void
  /** @param bytes valid only during the call. @param length the bytes that count for flow control, with padding */
  onData(stream: number, bytes: Buffer, length: number, ends: boolean): void
  onReset(stream: number, code: number): void
  /** @param settings pairs of identifier and value, in order */
  onSettings(settings: readonly (readonly [number, number])[]): void
  onSettingsAck(): void
  onPing(data: Buffer, isAnswer: boolean): void
  /** @param reason the debug data if it is text, or '' */
  onGoaway(lastStream: number, code: number, reason: string): void
  onWindowUpdate(stream: number, increment: number): void
  /** A frame that has no effect: PRIORITY, CONTINUATION without an end, or of an unknown type. */
  onIgnored(): void
}

export class Reader {
  readonly #events: ReaderEvents
  readonly #decoder = new Decoder()
  /** The start of a frame whose end has not arrived. */
  readonly #partial: Buffer = Buffer.allocUnsafeSlow(headBytes + leastMaxFrame)
  #partialBytes = 0
  #started = false
  #error: ConnectionError | undefined
  /** The pieces of a header block that CONTINUATION frames go on with. */
  #block: { readonly stream: number; readonly ends: boolean; readonly pieces: Buffer[]; bytes: number } | undefined

  constructor(events: ReaderEvents) {
    this.#events = events
  }

  /** @returns the violation of the protocol that ends the connection; nothing is read after it */
  read(chunk: Buffer): ConnectionError | undefined {
    if (this.#error) return this.#error
    try {
      this.#readFrames(chunk)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#error = error
    }
    return this.#error
  }

  #readFrames(chunk: Buffer): void {
    let at = 0
    const partial = this.#partial
    while (this.#partialBytes > 0) {
      const awaited = this.#partialBytes < headBytes ? headBytes : headBytes + lengthAt(partial, 0)
      const copied = chunk.copy(partial, this.#partialBytes, at, at + awaited - this.#partialBytes)
      this.#partialBytes += copied
      at += copied
      if (this.#partialBytes < awaited) return
      if (awaited === headBytes && lengthAt(partial, 0) > 0) continue
      this.#partialBytes = 0
      this.#readFrame(partial, 0, awaited)
    }
    while (chunk.length - at >= headBytes) {
      const end = at + headBytes + lengthAt(chunk, at)
      if (end > chunk.length) break
      this.#readFrame(chunk, at, end)
      at = end
    }
    this.#partialBytes = chunk.copy(partial, 0, at)
  }

  #readFrame(from: Buffer, start: number, frameEnd: number): void {
    const type = from[start + 3] as number
    const flags = from[start + 4] as number
    const stream = from.readUInt32BE(start + 5) & maxWindow
    const length = frameEnd - start - headBytes
    let at = start + headBytes
    let end = frameEnd
    const block = this.#block
    if (block && (type !== frameType.continuation || stream !== block.stream))
      throw violation('a header block was interrupted')
    if (!this.#started && (type !== frameType.settings || flags & flag.ack))
      throw violation('the first frame is not SETTINGS')
    if (type === frameType.data || type === frameType.headers) {
      needStream(stream)
      if (flags & flag.padded) {
        if (length === 0) throw wrongSize(type)
        const padding = from[at++] as number
        if (padding >= length) throw violation('the padding is longer than its frame')
        end -= padding
      }
      const ends = (flags & flag.endStream) !== 0
      if (type === frameType.data) return void this.#events.onData(stream, from.subarray(at, end), length, ends)
      if (flags & flag.priority) {
        if (end - at < 5) throw wrongSize(type)
        at += 5
      }
      if (flags & flag.endHeaders) return void this.#events.onHeaders(stream, this.#decoder.decode(from, at, end), ends)
      this.#block = { stream, ends, pieces: [Buffer.from(from.subarray(at, end))], bytes: end - at }
      return
    }
    switch (type) {
      case frameType.continuation:
        return void this.#continue(from.subarray(at, end), (flags & flag.endHeaders) !== 0)
      case frameType.priority:
        needStream(stream)
        if (length !== 5) throw wrongSize(type)
        return void this.#events.onIgnored()
      case frameType.reset:
        needStream(stream)
        if (length !== 4) throw wrongSize(type)
        return void this.#events.onReset(stream, from.readUInt32BE(at))
      case frameType.settings: {
        needNoStream(stream)
        if (length % 6 !== 0 || (flags & flag.ack && length > 0)) throw wrongSize(type)
        this.#started = true
        if (flags & flag.ack) return void this.#events.onSettingsAck()
        const settings: [number, number][] = []
        for (; at < end; at += 6) settings.push([from.readUInt16BE(at), from.readUInt32BE(at + 2)])
        return void this.#events.onSettings(settings)
      }
      case frameType.pushPromise:
        throw violation('PUSH_PROMISE, which our SETTINGS forbid')
      case frameType.ping:
        needNoStream(stream)
        if (length !== 8) throw wrongSize(type)
        return void this.#events.onPing(from.subarray(at, end), (flags & flag.ack) !== 0)
      case frameType.goaway: {
        needNoStream(stream)
        if (length < 8) throw wrongSize(type)
        const text = from.toString('latin1', at + 8, Math.min(end, at + 208))
        const reason = /^[\x20-\x7e]*$/.test(text) ? text : ''
        return void this.#events.onGoaway(from.readUInt32BE(at) & maxWindow, from.readUInt32BE(at + 4), reason)
      }
      case frameType.windowUpdate:
        if (length !== 4) throw wrongSize(type)
        return void this.#events.onWindowUpdate(stream, from.readUInt32BE(at) & maxWindow)
      default:
        this.#events.onIgnored()
    }
  }

  #continue(bytes: Buffer, ends: boolean): void {
    const block = this.#block
    if (!block) throw violation('CONTINUATION without a header block')
    block.pieces.push(Buffer.from(bytes))
    block.bytes += bytes.length
    if (block.bytes > mostHeaderListBytes)
      throw new ConnectionError(errorCode.enhanceYourCalm, 'the headers of an answer are too large')
    if (!ends) return void this.#events.onIgnored()
    this.#block = undefined
    const whole = Buffer.concat(block.pieces)
    this.#events.onHeaders(block.stream, this.#decoder.decode(whole, 0, whole.length), block.ends)
  }
}

function lengthAt(from: Buffer, at: number): number {
  const length = from.readUIntBE(at, 3)
  if (length > leastMaxFrame) throw new ConnectionError(errorCode.frameSize, `a frame has ${length} bytes`)
  return length
}

function needStream(stream: number): void {
  if (stream === 0) throw violation('a frame without a stream')
}

function needNoStream(stream: number): void {
  if (stream !== 0) throw violation('a frame of the connection has a stream')
}

const wrongSize = (type: number): ConnectionError =>
  new ConnectionError(errorCode.frameSize, `a frame of type ${type} has the wrong size`)

const violation = (problem: string): ConnectionError => new ConnectionError(errorCode.protocol, problem)
