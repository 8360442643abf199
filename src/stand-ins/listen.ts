import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Port 0 takes a free one. @returns its origin */
export async function listen(server: Server, host: string, port: number, scheme = 'http'): Promise<string> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
}

/** Ends its connections, too. */
export async function shut(server: Pick<HttpServer, 'close' | 'closeAllConnections'>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}

/** Starts the second server of a stand-in: where that fails, the first is closed again. */
export async function beside<S>(first: { close(): Promise<void> }, starting: Promise<S>): Promise<S> {
  try {
    return await starting
  } catch (error) {
    await first.close()
    throw error
  }
}
