// The cookie of a session.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { originOf } from './origin.ts'

/** @param name the ports of a host share their cookies, so each side has a name of its own */
export function readCookie({ headers }: FastifyRequest, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

export interface Cookie {
  readonly name: string
  readonly path: string
  /** Undefined deletes the cookie. */
  readonly value: string | undefined
  /** Lax: the browser also sends the cookie when it follows a link from another site. */
  readonly sameSite?: 'Strict' | 'Lax'
}

export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, path, value, sameSite = 'Strict' }: Cookie,
): void {
  const isSecure = originOf(request).startsWith('https:')
  reply.header(
    'set-cookie',
    `${name}=${value ?? ''}; Path=${path}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}${value === undefined ? '; Max-Age=0' : ''}`,
  )
}
