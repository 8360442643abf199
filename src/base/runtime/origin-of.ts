import type { AddressInfo, Server } from 'node:net'

/** The origin of a server that listens. @example originOf(server) // 'http://[::1]:7001' */
export function originOf(server: Pick<Server, 'address'>, scheme = 'http'): string {
  const { address, port, family } = server.address() as AddressInfo
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
