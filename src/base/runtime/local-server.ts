import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** The origin of a server that listens. @example originOf(server) // 'http://[::1]:7001' */
export function originOf(server: Pick<Server, 'address'>, scheme = 'http'): string {
  const { address, port, family } = server.address() as AddressInfo
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

interface Address {
  readonly host?: string
  readonly port?: number
  readonly scheme?: string
}

/** Listens on an address, by default on a free port of this machine. @returns the origin of the server */
export async function listenAt(
  server: Server,
  { host = '127.0.0.1', port = 0, scheme }: Address = {},
): Promise<string> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, () => resolve()))
  return originOf(server, scheme)
}

/** Closes a server with all its connections. */
export async function closeServer(server: HttpServer): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
