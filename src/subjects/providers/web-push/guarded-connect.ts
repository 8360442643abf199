// Connects to public addresses only, against SSRF. A name is resolved once, its addresses are checked, and the connection uses
// exactly these addresses. So a name server that changes its answer (DNS rebinding) has no effect.

import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import { createConnector } from '../../../base/http-client/dispatcher.ts'
import { isPublic } from './addresses.ts'

export interface GuardedConnectOptions {
  /** Name resolver. Default: the system's. */
  readonly lookup?: LookupFunction
  /** Whether connections to an address are allowed. Default: public addresses. */
  readonly allowed?: (address: string) => boolean
  /** Certificate of the authority to trust, as PEM. Default: the system's authorities. */
  readonly ca?: string
}

/** The error of a connection to an address that is not allowed. Its code is FORBIDDEN_ADDRESS. */
export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS'

  constructor(host: string, address: string) {
    super(`${host} has the address ${address}, which is in this machine or its network: not connected`)
  }
}

/**
 * A connector for an undici pool.
 *
 * @example openDispatcher('https://fcm.googleapis.com', { connector: guardedConnect() })
 */
export function guardedConnect(options: GuardedConnectOptions = {}): buildConnector.connector {
  const { lookup = systemLookup as LookupFunction, allowed = isPublic, ca } = options
  const connect = createConnector({ lookup: guardedLookup(lookup, allowed), timeout: 10_000, ...(ca && { ca }) })
  return (target, callback) => {
    const forbidden = forbiddenHost(target.hostname, allowed)
    if (forbidden) return callback(forbidden, null)
    connect(target, callback)
  }
}

/** @returns an error if the host is an address that is not allowed. Such a host is not looked up. */
export function forbiddenHost(hostname: string, allowed: (address: string) => boolean): ForbiddenAddress | undefined {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && !allowed(host) ? new ForbiddenAddress('the endpoint', host) : undefined
}

/** A resolver that refuses a name with an address that is not allowed. */
export function guardedLookup(lookup: LookupFunction, allowed: (address: string) => boolean): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const addresses = found as LookupAddress[]
      // One forbidden address refuses the whole name: no push service has such an address, so the answer is probably an attack.
      const forbidden = addresses.find(({ address }) => !allowed(address))
      if (forbidden) return callback(new ForbiddenAddress(hostname, forbidden.address), '')
      const [first] = addresses
      if (!first) return callback(Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }), '')
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
