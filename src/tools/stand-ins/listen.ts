import type { Server } from 'node:net'
import { originOf } from '../../base/runtime/origin-of.ts'

/** Listens on a port of this machine; 0 selects a free one. @returns the origin of the server */
export async function listen(server: Server, port: number, scheme = 'http'): Promise<string> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return originOf(server, scheme)
}

/** Waits for the start of a second server. If the start fails, the first server is closed. */
export async function orClose<S>(first: { close(): Promise<void> }, second: Promise<S>): Promise<S> {
  try {
    return await second
  } catch (error) {
    await first.close()
    throw error
  }
}
