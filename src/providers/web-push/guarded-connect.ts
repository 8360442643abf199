// Connections that lead out to the internet only (SSRF). The name is looked up once, the addresses are judged, and it is those
// addresses that are connected to: a name server that answers otherwise a moment later (DNS rebinding) is not asked again.

import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isPublic } from './addresses.ts'

export interface GuardOptions {
  /** How names are looked up; the system's way. */
  readonly lookup?: LookupFunction
  /** Which addresses may be connected to. */
  readonly allowed?: (address: string) => boolean
  /** Of the certificate authority, as PEM; the system's. */
  readonly ca?: string
}

/** The error of a connection that would have led inside. Its code is FORBIDDEN_ADDRESS. */
export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS'

  constructor(host: string, address: string) {
    super(`${host} is at ${address}, an address inside this machine or its network: not connected`)
  }
}

/**
 * How an undici pool connects.
 *
 * @example new Pool('https://fcm.googleapis.com', { connect: guardedConnect() })
 */
export function guardedConnect(options: GuardOptions = {}): buildConnector.connector {
  const { lookup = systemLookup as LookupFunction, allowed = isPublic, ca } = options
  const connect = buildConnector({ lookup: guardedLookup(lookup, allowed), timeout: 10_000, ...(ca && { ca }) })
  return (target, callback) => {
    // What is an address already is not looked up.
    const host = target.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !allowed(host)) return callback(new ForbiddenAddress('the endpoint', host), null)
    connect(target, callback)
  }
}

function guardedLookup(lookup: LookupFunction, allowed: (address: string) => boolean): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const addresses = found as LookupAddress[]
      // One bad address is enough: no push service has any, and whoever answers so wants something.
      const forbidden = addresses.find(({ address }) => !allowed(address))
      if (forbidden) return callback(new ForbiddenAddress(hostname, forbidden.address), '')
      const [first] = addresses
      if (!first) return callback(Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }), '')
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
