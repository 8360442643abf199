import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Listens on a port; 0 selects a free one. @returns the origin of the server */
export async function listen(server: Server, host: string, port: number, scheme = 'http'): Promise<string> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
}

/** Closes a server and its connections. */
export async function closeServer(server: Pick<HttpServer, 'close' | 'closeAllConnections'>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
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
