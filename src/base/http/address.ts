import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6, type Socket } from 'node:net'

/** Whether an address is in one of the networks. */
export type IsInside = (address: string | undefined) => boolean

/** @param networks such as '10.0.0.0/8'; a single address is a network too */
export function createIsInside(networks: readonly string[]): IsInside {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return (address = '') => isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** The connections that come from a trusted proxy, with the test for further proxies. */
const proxied = new WeakMap<Socket, IsInside>()

/** Lets X-Forwarded-For name the clients of this connection. */
export const trustConnection = (socket: Socket, isProxy: IsInside): void => void proxied.set(socket, isProxy)
export const isProxied = (socket: Socket): boolean => proxied.has(socket)

/** The address of the client: of several proxies in a row, each appends the address from which it got the request. */
export function addressOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
  let address = socket.remoteAddress ?? ''
  const isProxy = proxied.get(socket)
  if (!isProxy) return address
  const named = String(headers['x-forwarded-for'] ?? '').split(',')
  while (named.length > 0 && isProxy(address)) {
    const next = named.pop()?.trim() ?? ''
    if (isIP(next) === 0) break
    address = next
  }
  return address
}

/** @example isLoopbackAddress('::ffff:127.0.0.1') // true */
export function isLoopbackAddress(address = ''): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address)
}

/** An IPv4 address unchanged, an IPv6 address as its /64 network. @example '2001:db8:0:1::/64' for '2001:db8::1:0:0:0:2' */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  if (address.startsWith('::ffff:') && address.includes('.')) return address.slice('::ffff:'.length)
  const [front = '', back = ''] = address.split('%', 1)[0]?.split('::') ?? []
  const words = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const missing = 8 - words(front).length - words(back).length
  const all = address.includes('::')
    ? [...words(front), ...Array<string>(missing).fill('0'), ...words(back)]
    : words(front)
  return `${all.slice(0, 4).join(':')}::/64`
}
