// Opens streams and counts the events that they receive.

import { connect, type Socket } from 'node:net'
import { handleCalls } from '../harness/handle-calls.ts'

const lineFeed = 10
const sockets: Socket[] = []
/** Each read is counted at once, so all connections share one buffer. */
const shared = Buffer.alloc(64 * 1024)
let events = 0
let waiting: { readonly count: number; readonly resolve: () => void } | undefined

handleCalls({
  async open({ port, token, count }: { port: number; token: string; count: number }) {
    const head = `GET /app/inbox/stream HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\nlast-event-id: 0\r\n\r\n`
    const atOnce = 100
    for (let opened = 0; opened < count; opened += atOnce)
      await Promise.all(Array.from({ length: Math.min(atOnce, count - opened) }, () => open(port, head)))
  },
  /** Resolves when this number of events was received, over all connections together. */
  received(count: number) {
    if (events >= count) return
    return new Promise<void>((resolve) => {
      waiting = { count, resolve }
    })
  },
})

function open(port: number, head: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // An event ends with an empty line, which two reads may divide.
    let endedWithLineFeed = false
    let started = false
    const onread = (length: number, buffer: Uint8Array): boolean => {
      for (let i = 0; i < length; i++) {
        const isLineFeed = buffer[i] === lineFeed
        if (isLineFeed && endedWithLineFeed) events++
        endedWithLineFeed = isLineFeed
      }
      if (!started) {
        started = true
        resolve()
      }
      if (waiting && events >= waiting.count) {
        waiting.resolve()
        waiting = undefined
      }
      return true
    }
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer: shared, callback: onread } })
    socket.on('connect', () => socket.write(head))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    sockets.push(socket)
  })
}
