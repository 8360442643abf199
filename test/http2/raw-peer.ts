// A server of hand-written frames, for peers that misbehave: it misbehaves on its first connection, and answers on the others.

import { createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { flag, frameType, headBytes, writeHead } from '../../src/base/http2/frames.ts'
import { listenLocally } from '../support/listen-locally.ts'

export interface RawPeer {
  readonly url: string
  connections: number
  /** The error codes that the client sent on the first connection. */
  readonly goaways: number[]
  readonly resets: number[]
}

export interface Misbehaviour {
  /** Default: SETTINGS and the ACK of the client's. */
  readonly greeting?: Buffer
  /** The bytes after the first request. */
  readonly bytes?: Buffer
}

const prefaceBytes = 24
const emptySettings = frame(frameType.settings, 0, 0)
const settingsAck = frame(frameType.settings, flag.ack, 0)
/** The header block of ":status: 200": one index of the static table. */
export const status200 = Buffer.of(0x88)

export async function rawPeer(t: TestContext, { greeting, bytes }: Misbehaviour): Promise<RawPeer> {
  const peer = { url: '', connections: 0, goaways: [] as number[], resets: [] as number[] }
  const server = createServer((socket) => {
    const isFirst = ++peer.connections === 1
    socket.on('error', () => {})
    socket.write(isFirst && greeting ? greeting : Buffer.concat([emptySettings, settingsAck]))
    readFrames(socket, (type, stream, payload) => {
      if (isFirst && type === frameType.goaway) peer.goaways.push(payload.readUInt32BE(4))
      if (isFirst && type === frameType.reset) peer.resets.push(payload.readUInt32BE(0))
      if (type !== frameType.headers) return
      if (isFirst && stream === 1) socket.write(bytes ?? Buffer.alloc(0))
      else socket.write(frame(frameType.headers, flag.endHeaders | flag.endStream, stream, status200))
    })
  })
  return Object.assign(peer, { url: (await listenLocally(t, server)).url })
}

function readFrames(socket: Socket, onFrame: (type: number, stream: number, payload: Buffer) => void): void {
  let left = Buffer.alloc(0)
  let skipped = false
  socket.on('data', (chunk: Buffer) => {
    left = Buffer.concat([left, chunk])
    if (!skipped && left.length < prefaceBytes) return
    if (!skipped) left = left.subarray(prefaceBytes)
    skipped = true
    while (left.length >= headBytes) {
      const end = headBytes + left.readUIntBE(0, 3)
      if (left.length < end) return
      onFrame(left[3] as number, left.readUInt32BE(5), left.subarray(headBytes, end))
      left = left.subarray(end)
    }
  })
}

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(headBytes + payload.length)
  writeHead(bytes, 0, payload.length, type, flags, stream)
  payload.copy(bytes, headBytes)
  return bytes
}

/** A field that is added to the dynamic table (RFC 7541 §6.2.1). Name and value have less than 127 bytes, or the value 4,000. */
export function literalField(name: string, value: string): Buffer {
  const length = value.length < 127 ? Buffer.of(value.length) : integer7(value.length)
  return Buffer.concat([Buffer.of(0x40, name.length), Buffer.from(name), length, Buffer.from(value)])
}

function integer7(value: number): Buffer {
  const left = value - 127
  return Buffer.of(127, (left & 127) | 128, left >>> 7)
}

export const repeat = (bytes: Buffer, times: number): Buffer =>
  Buffer.concat(Array.from({ length: times }, () => bytes))
