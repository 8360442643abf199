import type { FastifyRequest } from 'fastify'
import { type Authentication, createAuthentication } from './authentication.ts'
import { HttpError } from './http-error.ts'
import { mediaTypeOf } from './request-bodies.ts'
import { type Subscriber, TokenRefused, verifySubscriberToken } from './subscriber-token.ts'

/** Largest request body of /app: enough for a hundred devices of a user. */
export const appBodyBytes = 128 * 1024

/**
 * The caller of /app: the user and brand of the subscriber token in `Authorization: Bearer`. An invalid token is answered 401
 * with the reason. Responses are never cached.
 */
export function subscriberAuthentication(access: {
  readonly secrets: readonly string[]
  readonly now?: () => number
}): Authentication<Subscriber> {
  return createAuthentication(async (request, reply) => {
    reply.header('cache-control', 'no-store')
    try {
      const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      if (!token)
        throw new TokenRefused('send the subscriber token from your backend, as `Authorization: Bearer <token>`')
      const subscriber = await verifySubscriberToken(token, access)
      demandJson(request)
      return subscriber
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      reply.header('www-authenticate', 'Bearer realm="app"')
      throw new HttpError(401, error.message)
    }
  })
}

/** A body without a content type is treated as JSON. */
function demandJson(request: FastifyRequest): void {
  const type = mediaTypeOf(request)
  if (request.method === 'GET' || type === '' || type === 'application/json') return
  throw new HttpError(415, `content-type ${type} is not supported here: send application/json`)
}
