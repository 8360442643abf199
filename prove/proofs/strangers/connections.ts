// One address that opens as many connections as it can, and keeps them.

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import type { Attack } from './attacks.ts'
import { waitUntil } from './observe.ts'
import type { Side } from './target.ts'

/** Another address than that of the other clients, which the limit must not concern. */
const attacker = '127.0.0.2'
const tries = 1_200
/** The default of `connections_per_address`. */
const most = 1_000

export const manyConnections: Attack = {
  name: 'S10 one address with many connections',
  expected: 'at most 1,000 of its connections stay open, idle ones for five seconds, and another address is served',
  mounted: 'never',
  async run({ operator, platform, small }, signal) {
    for (const side of [operator, platform]) await hold(side, small, signal)
  },
}

async function hold(side: Side, small: boolean, signal: AbortSignal): Promise<void> {
  const { port } = new URL(side.url)
  let answered = 0
  let closed = 0
  const sockets = Array.from({ length: tries }, (): Socket => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: attacker })
    socket.once('data', () => answered++).on('error', () => {}) // 'close' follows
    socket.once('close', () => closed++)
    return socket.resume()
  })
  for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
  try {
    await waitUntil('connections were neither answered nor closed', signal, async () => answered + closed >= tries)
    assert.ok(tries - closed <= most, `${tries - closed} connections stayed open`)
    const { status } = await side.request('GET', '/healthz')
    assert.equal(status, 200, 'another address was not served')
    if (!small) await waitUntil('idle connections of a stranger stayed open', signal, async () => closed === tries)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}
