// A foreign operator that streams ids as fast as the client reads. argv: port, first and last number of the ids.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scattered, texts } from '../../test/support/scattered-ids.ts'

const [port = 0, from = 0, to = 0] = process.argv.slice(2).map(Number)
const numbers = scattered(from, to)
const server = createServer(async (request, response) => {
  request.resume()
  response.on('error', () => {})
  for (const part of texts(numbers, 'answer')) {
    if (response.destroyed) return
    if (!response.write(part)) await once(response, 'drain').catch(() => {})
  }
  response.end()
})
await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: { port: (server.address() as AddressInfo).port } })
