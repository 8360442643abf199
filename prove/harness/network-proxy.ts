// A way through which a proof's processes reach a service, and which it can cut: a network that fails.

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export interface Cuttable {
  readonly port: number
  /** Where it leads; may be told once it is known. */
  leadsTo(port: number): void
  /** All connections are reset, new ones too. */
  cut(): void
  /** Nothing arrives any more, on either side, and nobody is told. */
  freeze(): void
  mend(): void
  close(): Promise<void>
}

export async function cuttable(to = 0): Promise<Cuttable> {
  let target = to
  let state: 'open' | 'cut' | 'frozen' = 'open'
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer((near) => {
    if (state === 'cut') return void near.resetAndDestroy()
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
  const reset = (): void => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy()
      far.destroy()
    }
  }
  return {
    port: (server.address() as AddressInfo).port,
    leadsTo(port) {
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
    mend() {
      // What was frozen stays lost: as after a NAT that forgot its connections.
      if (state === 'frozen') reset()
      state = 'open'
    },
    async close() {
      reset()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
