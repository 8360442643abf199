import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Below the ephemeral ports of Linux and other systems, so that a restarted server can bind the same port again. */
const [from, to] = [20_000, 32_000]
/** Longer than a test uses a port. */
const reservedMs = 20 * 60_000

/** Returns a port that is free on loopback. No port is returned twice, also in other processes of the same run. */
export async function freePort(): Promise<number> {
  const port = randomInt(from, to)
  if (!reserve(port)) return freePort()
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

/** A file for each port. */
function reserve(port: number): boolean {
  const folder = join(tmpdir(), 'bellwire-ports')
  const file = join(folder, String(port))
  try {
    mkdirSync(folder, { recursive: true })
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > reservedMs) rmSync(file, { force: true })
    writeFileSync(file, '', { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
