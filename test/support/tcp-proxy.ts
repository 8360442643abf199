// A TCP proxy that simulates network failures between a test and a server.

import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { resetSocket } from '../../src/base/runtime/reset-socket.ts'
import { listenLocally } from './listen-locally.ts'

export interface TcpProxy {
  /** The address of the server, through the proxy. */
  readonly url: string
  /** Closes all connections, and resets new ones. */
  cut(): void
  /** Resets all connections. New ones are passed on, as by a proxy that limits the time of a response. */
  reset(): void
  /** Keeps the connections open but passes no more bytes on. */
  freeze(): void
  restore(): void
}

/** Forwards connections to a server. @param target its address: http or postgres */
export async function tcpProxy(t: TestContext, target: string): Promise<TcpProxy> {
  const url = new URL(target)
  const to = { port: Number(url.port || 5432), host: url.hostname }
  let state: 'open' | 'cut' | 'frozen' = 'open'
  const open = new Set<Socket>()
  const server = createServer((near) => {
    if (state === 'cut') return resetSocket(near)
    open.add(near)
    near.on('close', () => open.delete(near))
    const far = connect(to)
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => state === 'open' && other.write(bytes))
      from.on('error', () => {})
      from.on('close', () => other.destroy())
    }
  })
  const { port, cut } = await listenLocally(t, server)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href.replace(/\/$/, ''),
    cut() {
      state = 'cut'
      cut()
    },
    reset() {
      for (const near of open) resetSocket(near)
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
