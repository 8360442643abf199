import { type Authentication, createAuthentication } from './authentication.ts'
import { HttpError } from './http-error.ts'
import { type Subscriber, TokenRefused, verifySubscriberToken } from './subscriber-token.ts'

/** Largest body of a request to /app: a hundred devices of a user. */
export const appBodyBytes = 128 * 1024

/**
 * Who calls /app: the user and brand of the subscriber token in `Authorization: Bearer`; 401 says what is wrong with it. Answers to
 * them are never stored.
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
        throw new TokenRefused('send the subscriber token that your backend made, as `Authorization: Bearer <token>`')
      return await verifySubscriberToken(token, access)
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      reply.header('www-authenticate', 'Bearer realm="app"')
      throw new HttpError(401, error.message)
    }
  })
}
