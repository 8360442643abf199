// Our HTTP/2 client against servers of others.

import assert from 'node:assert/strict'
import { createHttp2Client } from '../../src/base/http2/client.ts'
import type { Proof } from '../harness/proof.ts'
import {
  certificate,
  type Echo,
  goEcho,
  nghttpdEcho,
  nginxEcho,
  nodeEcho,
  type Round,
  rounds,
} from '../http2/echo-servers.ts'

const counts = { small: 2_000, full: 50_000 }
const inFlight = 500
const goawayEvery = 300
const longEvery = 20
/** Every such body is larger than the small windows. */
const largeEvery = 10
const largeBytes = 4_000

export const http2Interop: readonly Proof[] = [
  proofOn('http2-interop', 'node:http2', nodeEcho),
  proofOn('http2-interop-go', 'Go', goEcho, 'go'),
  proofOn('http2-interop-nghttpd', 'nghttpd', nghttpdEcho, 'nghttpd'),
  proofOn('http2-interop-nginx', 'nginx', nginxEcho, 'nginx'),
]

function proofOn(name: string, server: string, echo: Echo, ...needs: NonNullable<Proof['needs']>): Proof {
  return {
    name,
    claims: `each request of our HTTP/2 client to ${server} gets its own answer, with small and large windows and tables`,
    needs,
    boundSeconds: { small: 60, full: 600 },
    async run({ small, print }, signal) {
      const count = counts[small ? 'small' : 'full'] / rounds.length
      let answered = 0
      for (const [n, round] of rounds.entries()) {
        signal.throwIfAborted()
        await runRound(echo, round, n * count, count, signal)
        answered += count
        print(`${JSON.stringify(round)}: ${count} answers`)
      }
      return { requests: answered, answers: answered }
    },
  }
}

async function runRound(echo: Echo, round: Round, first: number, count: number, signal: AbortSignal): Promise<void> {
  const server = await echo.start(round)
  const client = createHttp2Client({ origin: server.origin, ca: certificate.cert, connections: 2 })
  let next = first
  const one = async (): Promise<void> => {
    for (let id = next++; id < first + count; id = next++) {
      const body = JSON.stringify({ id, text: 'ä'.repeat(id % largeEvery === 0 ? largeBytes : id % 50) })
      const headers = ['content-type', 'application/json', 'x-id', `${id}`]
      if (id % goawayEvery === 0) headers.push(...(echo.goaway ?? []))
      if (id % longEvery === 0) headers.push(...(echo.long ?? []))
      const deadline = Date.now() + 60_000
      const exchanged = await client.post({ path: `/n/${id}`, headers, unindexed: ['x-id'], body, deadline, signal })
      assert.ok('status' in exchanged, `request ${id}: ${'lost' in exchanged ? exchanged.lost.message : ''}`)
      assert.equal(exchanged.status, 200)
      assert.equal(exchanged.body.toString(), echo.echoesBody ? body : `/n/${id}`)
      if (echo.echoesId) assert.equal(exchanged.headers['x-id'], `${id}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: inFlight }, one))
  } finally {
    await client.close()
    await server.stop()
  }
}
