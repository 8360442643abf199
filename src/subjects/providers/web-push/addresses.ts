// Distinguishes public network addresses from internal addresses: of this machine, its network and its cloud.

import { BlockList, isIP } from 'node:net'

const inside4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers (CGNAT); metadata service of some clouds
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host, although it is a public address
  '169.254.0.0/16', // link-local: metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocols
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
]

// Only global unicast addresses of IPv6 are public, so loopback, ULA (fc00::/7), link-local and IPv4-mapped ones need no entry.
const outside6 = ['2000::/3']
const inside6 = [
  '2001::/23', // IETF protocols, Teredo: carries an IPv4 address
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries an IPv4 address
  '3fff::/20', // documentation
]

// In an IPv6-only network, NAT64 maps IPv4 addresses into this prefix. A mapped address is internal if the IPv4 address is.
const nat64 = '64:ff9b::'

const inside = new BlockList()
const outside = new BlockList()
for (const subnet of inside4) {
  const [network = '', bits] = subnet.split('/')
  inside.addSubnet(network, Number(bits))
  inside.addSubnet(nat64 + network, 96 + Number(bits), 'ipv6')
}
for (const subnet of inside6) add(inside, subnet)
for (const subnet of [...outside6, `${nat64}/96`]) add(outside, subnet)

function add(blocks: BlockList, subnet: string): void {
  const [network = '', bits] = subnet.split('/')
  blocks.addSubnet(network, Number(bits), 'ipv6')
}

/**
 * Whether a text is a public IP address.
 *
 * @example isPublic('142.250.74.42') // true
 * @example isPublic('::ffff:127.0.0.1') // false
 */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !inside.check(address, 'ipv4')
    case 6:
      return outside.check(address, 'ipv6') && !inside.check(address, 'ipv6')
    default:
      return false
  }
}
