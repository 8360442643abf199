// Turns the frames of a client into bytes (RFC 9113 §4 and §6). It knows no streams and no socket: take() returns the bytes.

import { defaultTableSize, errorCode, flag, frameType, headBytes, leastMaxFrame, setting, writeHead } from './frames.ts'
import { mostHeaderListBytes } from './hpack-decoder.ts'
import { Encoder, fieldOverhead, type Indexing, sizeUpdateBytes } from './hpack-encoder.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const bufferBytes = 64 * 1024

/** The size of a body, or more: a character of a text has at most three bytes. */
export const mostBytesOf = (body: string | Buffer): number => (typeof body === 'string' ? body.length * 3 : body.length)

export class Writer {
  /** SETTINGS_MAX_FRAME_SIZE of the peer. */
  maxFrame = leastMaxFrame
  /** The number of bytes that were not taken. */
  length = 0
  readonly #encoder = new Encoder()
  #buffer: Buffer = Buffer.allocUnsafeSlow(bufferBytes)
  #spare: Buffer | undefined

  /** @returns the bytes since the last call. They are valid until recycle(). */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.length)
    this.#buffer = this.#spare ?? Buffer.allocUnsafeSlow(bufferBytes)
    this.#spare = undefined
    this.length = 0
    return taken
  }

  /** Returns bytes of take() that are no longer needed. */
  recycle(taken: Buffer): void {
    if (taken.buffer.byteLength === bufferBytes) this.#spare = Buffer.from(taken.buffer)
  }

  /** The first bytes of a connection: our SETTINGS, and the window of the connection. */
  writePreface(streamWindow: number, connectionIncrement: number): void {
    this.#reserve(preface.length)
    this.length += preface.copy(this.#buffer, this.length)
    const settings = [
      [setting.headerTableSize, defaultTableSize],
      [setting.enablePush, 0],
      [setting.initialWindowSize, streamWindow],
      [setting.maxHeaderListSize, mostHeaderListBytes],
    ] as const
    let at = this.#begin(frameType.settings, 0, 0, settings.length * 6)
    for (const [id, value] of settings) {
      at = this.#buffer.writeUInt16BE(id, at)
      at = this.#buffer.writeUInt32BE(value, at)
    }
    this.writeWindowUpdate(0, connectionIncrement)
  }

  resizeTable(allowed: number): void {
    this.#encoder.resize(allowed)
  }

  /** @param fields names and values, alternating. @param indexingOf returns how a field is encoded, by the index of its name */
  writeHeaders(stream: number, fields: readonly string[], indexingOf: (at: number) => Indexing, ends: boolean): void {
    let room = sizeUpdateBytes
    for (const text of fields) room += text.length + fieldOverhead / 2
    this.#reserve(headBytes + room + headBytes * Math.ceil(room / this.maxFrame))
    const out = this.#buffer
    const start = this.length + headBytes
    let at = this.#encoder.beginBlock(out, start)
    for (let i = 0; i < fields.length; i += 2)
      at = this.#encoder.writeField(out, at, fields[i] as string, fields[i + 1] as string, indexingOf(i))
    this.#frameBlock(start, at - start, stream, ends ? flag.endStream : 0)
  }

  /** Puts the heads of HEADERS and CONTINUATION into a header block. */
  #frameBlock(start: number, length: number, stream: number, flags: number): void {
    const out = this.#buffer
    const { maxFrame } = this
    const pieces = Math.max(1, Math.ceil(length / maxFrame))
    for (let piece = pieces - 1; piece >= 0; piece--) {
      const bytes = piece === pieces - 1 ? length - piece * maxFrame : maxFrame
      const from = start + piece * maxFrame
      const to = from + piece * headBytes
      if (piece > 0) out.copyWithin(to, from, from + bytes)
      const type = piece === 0 ? frameType.headers : frameType.continuation
      const end = piece === pieces - 1 ? flag.endHeaders : 0
      writeHead(out, to - headBytes, bytes, type, end | (piece === 0 ? flags : 0), stream)
    }
    this.length = start + length + (pieces - 1) * headBytes
  }

  /** Writes a whole body of at most maxFrame bytes. @returns its size in bytes */
  writeBody(stream: number, body: string | Buffer): number {
    this.#reserve(headBytes + mostBytesOf(body))
    const at = this.length + headBytes
    const bytes = typeof body === 'string' ? this.#buffer.write(body, at, 'utf8') : body.copy(this.#buffer, at)
    writeHead(this.#buffer, this.length, bytes, frameType.data, flag.endStream, stream)
    this.length += headBytes + bytes
    return bytes
  }

  writeData(stream: number, bytes: Buffer, ends: boolean): void {
    const at = this.#begin(frameType.data, ends ? flag.endStream : 0, stream, bytes.length)
    bytes.copy(this.#buffer, at)
  }

  writeSettingsAck(): void {
    this.#begin(frameType.settings, flag.ack, 0, 0)
  }

  writePing(data: Buffer, isAnswer: boolean): void {
    const at = this.#begin(frameType.ping, isAnswer ? flag.ack : 0, 0, 8)
    data.copy(this.#buffer, at)
  }

  writeReset(stream: number, code: number): void {
    const at = this.#begin(frameType.reset, 0, stream, 4)
    this.#buffer.writeUInt32BE(code, at)
  }

  writeWindowUpdate(stream: number, increment: number): void {
    const at = this.#begin(frameType.windowUpdate, 0, stream, 4)
    this.#buffer.writeUInt32BE(increment, at)
  }

  /** The peer has no streams of its own, so the last one is 0. */
  writeGoaway(code: number = errorCode.none): void {
    const at = this.#begin(frameType.goaway, 0, 0, 8)
    this.#buffer.writeUInt32BE(code, this.#buffer.writeUInt32BE(0, at))
  }

  /** Writes the head of a frame. It may replace #buffer, so read that only afterwards. @returns the start of its payload */
  #begin(type: number, flags: number, stream: number, length: number): number {
    this.#reserve(headBytes + length)
    writeHead(this.#buffer, this.length, length, type, flags, stream)
    const at = this.length + headBytes
    this.length = at + length
    return at
  }

  #reserve(room: number): void {
    if (this.length + room <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.length + room))
    this.#buffer.copy(larger, 0, 0, this.length)
    this.#buffer = larger
  }
}
