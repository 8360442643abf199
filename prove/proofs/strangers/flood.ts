import { connect, type Socket } from 'node:net'

export interface Flood {
  /** The number of connections that the server has closed. */
  readonly closed: () => number
  stop(): void
}

/** Opens connections, and sends the same bytes on each. No answer is read, so that the server keeps what it may. */
export function flood(url: string, count: number, bytes: string): Flood {
  const { hostname, port } = new URL(url)
  let closed = 0
  const sockets = Array.from({ length: count }, (): Socket => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {}) // 'close' follows
    socket.on('close', () => closed++)
    socket.pause()
    socket.write(bytes)
    return socket
  })
  return {
    // A paused socket does not see the end of its connection: a write on a closed connection fails.
    closed() {
      for (const socket of sockets) if (!socket.destroyed) socket.write('x')
      return closed
    },
    stop() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
