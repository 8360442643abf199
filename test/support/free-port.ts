import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below what Linux and others choose from for connections: whoever is started again can have the same port again. */
const [from, to] = [20_000, 32_000]
const given = new Set<number>()

/** Free now, on loopback; none is given twice in a process. */
export async function freePort(): Promise<number> {
  const port = randomInt(from, to)
  if (given.has(port)) return freePort()
  given.add(port)
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
