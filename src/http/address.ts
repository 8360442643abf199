import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'

/** The address of the client of a request. */
export const addressOf = ({ socket }: Pick<IncomingMessage, 'socket' | 'headers'>): string => socket.remoteAddress ?? ''

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
