// A TCP proxy that simulates network failures between a test and a server.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface TcpProxy {
  readonly port: number
  /** Closes all connections, and resets new ones. */
  cut(): void
  /** Keeps the connections open but passes no more bytes on. */
  freeze(): void
  restore(): void
}

/** Forwards connections to 127.0.0.1:port. */
export async function tcpProxy(t: TestContext, port: number): Promise<TcpProxy> {
  let state: 'open' | 'cut' | 'frozen' = 'open'
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    if (state === 'cut') return near.resetAndDestroy()
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => state === 'open' && to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const closeAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  t.after(() => {
    closeAll()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut'
      closeAll()
    },
    freeze() {
      state = 'frozen'
    },
    // Connections that were frozen have lost bytes and stay broken; their clients must detect that.
    restore() {
      state = 'open'
    },
  }
}
