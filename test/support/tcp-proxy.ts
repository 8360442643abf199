// A network between us and a server, that can be cut.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface TcpProxy {
  readonly port: number
  /** Connections are reset, new ones too. */
  cut(): void
  /** Nothing is reset, and nothing comes through any more. */
  freeze(): void
  restore(): void
}

/** Passes bytes on to 127.0.0.1:port. */
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
  const drop = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  t.after(() => {
    drop()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut'
      drop()
    },
    freeze() {
      state = 'frozen'
    },
    // What was frozen has lost bytes and stays dead: it is for its owner to find out.
    restore() {
      state = 'open'
    },
  }
}
