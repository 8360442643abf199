// One byte stream into a session with three requests: it never throws, and each request and the session end exactly once.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openSession } from '../../src/base/http2/session.ts'

const limits = { streams: 100, connectTimeoutMs: 60_000, pingAfterMs: 60_000, pingTimeoutMs: 60_000 }
const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
const requests = 3

export async function answerWith(bytes: Buffer, pieceBytes: number): Promise<void> {
  const socket = new SocketInMemory()
  let ended = 0
  const ends = new Array<number>(requests).fill(0)
  const session = openSession(
    { origin: 'http://peer', ca: undefined, tunnel: socket as unknown as Socket, limits },
    { changed: () => {}, ended: () => ended++ },
  )
  await nextTurn()
  socket.emit('data', emptySettings)
  for (let n = 0; n < requests; n++)
    session.start({ path: `/${n}`, headers: ['x-n', `${n}`], body: 'x'.repeat(n * 40_000) }, () => {
      ends[n] = (ends[n] as number) + 1
    })
  await nextTurn()
  for (let at = 0; at < bytes.length && !socket.destroyed; at += pieceBytes)
    socket.emit('data', bytes.subarray(at, at + pieceBytes))
  await nextTurn()
  socket.destroy()
  assert.equal(ended, 1, 'ends of the session')
  assert.deepEqual(ends, new Array(requests).fill(1), 'ends of each request')
}

/** The part of a socket that a session uses. */
class SocketInMemory extends EventEmitter {
  destroyed = false
  write(_bytes: Buffer, written?: () => void): boolean {
    if (written) queueMicrotask(written)
    return true
  }
  end(): void {
    this.destroy()
  }
  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}
