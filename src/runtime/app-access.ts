import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from './http.ts'
import { type Subscriber, TokenRefused, verifySubscriberToken } from './subscriber-token.ts'

/**
 * Who calls /app: the user and brand of the subscriber token in `Authorization: Bearer`. Answers to them are never stored.
 *
 * @throws HttpError 401 that says what is wrong with the token
 */
export async function admitSubscriber(
  request: FastifyRequest,
  reply: FastifyReply,
  { secrets, now = Date.now }: { readonly secrets: readonly string[]; readonly now?: () => number },
): Promise<Subscriber> {
  reply.header('cache-control', 'no-store')
  try {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (!token)
      throw new TokenRefused('send the subscriber token that your backend made, as `Authorization: Bearer <token>`')
    return await verifySubscriberToken(token, { secrets, now })
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error
    reply.header('www-authenticate', 'Bearer realm="app"')
    throw new HttpError(401, error.message)
  }
}
