// A minimal HTTP/2 server that answers every request with the same frames (RFC 9113). Headers of requests are not decoded; an answer
// is a copy of a prepared buffer with the stream's number.

import { createServer, type Server } from 'node:tls'
import { writeLater } from './http1-sink.ts'

export interface Http2SinkOptions {
  readonly certificate: { readonly key: string; readonly cert: string }
  /** SETTINGS_MAX_CONCURRENT_STREAMS. */
  readonly streams: number
  readonly latencyMs: number
}

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly payload: Buffer
}

// §6
export const dataFrame = 0
export const headersFrame = 1
const settingsFrame = 4
const pingFrame = 6
const windowUpdateFrame = 8
export const endStream = 1
const ack = 1
export const endHeaders = 4
/** §3.4 */
const prefaceBytes = 24
/** §4.1: length, type, flags, stream. */
const headBytes = 9
/** The largest increment of the connection's initial window of 65,535 bytes (§6.9.1). */
const wholeWindow = 2 ** 31 - 1 - 65_535
/** `:status: 200` of the static table (RFC 7541, Appendix A). */
export const status200 = Buffer.from([0x88])

/** A header without indexing (RFC 7541 §6.2.2), so that every answer has the same bytes. For names and values below 127 bytes. */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

/** @param answer the frames of every answer; the last one ends the stream */
export function http2Sink({ certificate, streams, latencyMs }: Http2SinkOptions, answer: readonly Frame[]): Server {
  const template = Buffer.concat(answer.map(({ type, flags, payload }) => frame(type, flags, payload)))
  const numbersAt: number[] = []
  let length = 0
  for (const { payload } of answer) {
    numbersAt.push(length + 5)
    length += headBytes + payload.length
  }
  const maxConcurrentStreams = Buffer.from([0, 3, 0, 0, streams >> 8, streams & 255])
  const hello = Buffer.concat([frame(settingsFrame, 0, maxConcurrentStreams), grown(wholeWindow)])

  function answersTo(streamNumbers: readonly number[]): Buffer {
    const bytes = Buffer.allocUnsafe(length * streamNumbers.length)
    let from = 0
    for (const number of streamNumbers) {
      template.copy(bytes, from)
      for (const at of numbersAt) bytes.writeUInt32BE(number, from + at)
      from += length
    }
    return bytes
  }

  return createServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
    let left: Buffer = Buffer.alloc(0)
    let begun = false
    let taken = 0
    socket.on('error', () => {})
    socket.setNoDelay()
    socket.write(hello)
    socket.on('data', (chunk: Buffer) => {
      const bytes = left.length === 0 ? chunk : Buffer.concat([left, chunk])
      let at = begun ? 0 : prefaceBytes
      begun = true
      const ended: number[] = []
      while (at + headBytes <= bytes.length) {
        const end = at + headBytes + bytes.readUIntBE(at, 3)
        if (end > bytes.length) break
        const type = bytes[at + 3]
        const flags = bytes[at + 4] as number
        if (type === dataFrame) taken += end - at - headBytes
        if (type === dataFrame || type === headersFrame) {
          if (flags & endStream) ended.push(bytes.readUInt32BE(at + 5))
        } else if (type === settingsFrame && !(flags & ack)) socket.write(frame(settingsFrame, ack))
        else if (type === pingFrame && !(flags & ack))
          socket.write(frame(pingFrame, ack, bytes.subarray(at + headBytes, end)))
        at = end
      }
      left = bytes.subarray(at)
      if (taken > wholeWindow / 2) {
        socket.write(grown(taken))
        taken = 0
      }
      if (ended.length > 0) writeLater(socket, answersTo(ended), latencyMs)
    })
  })
}

/** A frame on stream 0. answersTo() sets the stream of an answer's frames. */
function frame(type: number, flags: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  return Buffer.concat([head, payload])
}

function grown(by: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(by)
  return frame(windowUpdateFrame, 0, bytes)
}
