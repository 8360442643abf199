import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral ports of Linux and other systems, so that a restarted server can bind the same port again. */
const [from, to] = [20_000, 32_000]
const used = new Set<number>()

/** Returns a port that is free on loopback. No port is returned twice in a process. */
export async function freePort(): Promise<number> {
  const port = randomInt(from, to)
  if (used.has(port)) return freePort()
  used.add(port)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}
