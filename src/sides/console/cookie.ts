// The cookie of a session.

import type { FastifyReply, FastifyRequest } from 'fastify'

/** @param name the ports of a host share their cookies, so each side has a name of its own */
export function readCookie({ headers }: FastifyRequest, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** @param value undefined deletes the cookie */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, path, value }: { readonly name: string; readonly path: string; readonly value: string | undefined },
): void {
  const forwarded = String(request.headers['x-forwarded-proto'] ?? '')
  const isSecure = request.protocol === 'https' || forwarded.startsWith('https')
  reply.header(
    'set-cookie',
    `${name}=${value ?? ''}; Path=${path}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${value === undefined ? '; Max-Age=0' : ''}`,
  )
}
