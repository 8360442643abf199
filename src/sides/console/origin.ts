// A request that changes something must come from a page of this server.

import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../base/http/http-error.ts'

/** The address of this server, as the browser has it. */
export function originOf({ headers, protocol, host }: FastifyRequest): string {
  const isForwarded = String(headers['x-forwarded-proto'] ?? '').startsWith('https')
  return `${isForwarded ? 'https' : protocol}://${host}`
}

/** Refuses a request that a page of another site caused. Browsers send Origin with each POST, and no page can change it. */
export function demandSameOrigin({ headers }: FastifyRequest): void {
  const { origin, host, 'sec-fetch-site': site = 'same-origin' } = headers
  if (site === 'same-origin' && origin !== undefined && URL.parse(origin)?.host === host) return
  throw new HttpError(
    403,
    `the form was sent by a page of ${origin ?? 'an unknown site'}, and this server is ${host}: open the console itself. A proxy in between must pass on the header Host`,
  )
}
