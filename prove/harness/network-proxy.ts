// A TCP proxy between the processes of a proof and a service. It can simulate a failing network.

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { resetSocket } from '../../src/base/runtime/reset-socket.ts'

export interface NetworkProxy {
  readonly port: number
  /** Sets the port of the service. */
  forwardTo(port: number): void
  /** Resets all connections, including new connections. */
  cut(): void
  /** Drops all data in both directions without closing the connections. */
  freeze(): void
  restore(): void
  close(): Promise<void>
}

export async function startNetworkProxy(to = 0): Promise<NetworkProxy> {
  let target = to
  let state: 'open' | 'cut' | 'frozen' = 'open'
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer((near) => {
    if (state === 'cut') return void resetSocket(near)
    const far = connect(target, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    for (const [from, other] of [pair, [far, near] as const]) {
      from.on('error', () => other.destroy())
      from.on('close', () => {
        pairs.delete(pair)
        other.destroy()
      })
      from.setNoDelay(true)
      if (state === 'open') from.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // That of a shared broker is never closed.
  server.unref()
  const reset = (): void => {
    for (const [near, far] of pairs) {
      resetSocket(near)
      far.destroy()
    }
  }
  return {
    port: (server.address() as AddressInfo).port,
    forwardTo(port) {
      target = port
    },
    cut() {
      state = 'cut'
      reset()
    },
    freeze() {
      state = 'frozen'
      for (const [near, far] of pairs) {
        near.unpipe(far).pause()
        far.unpipe(near).pause()
      }
    },
    restore() {
      // Frozen connections stay broken, as after a NAT that has dropped its state.
      if (state === 'frozen') reset()
      state = 'open'
    },
    async close() {
      reset()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
