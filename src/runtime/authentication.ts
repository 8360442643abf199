import type { FastifyReply, FastifyRequest } from 'fastify'

/** Who may call a route, found out when its headers are there: nothing of the body is read before. */
export interface Authentication<Caller> {
  /** For the `onRequest` of each of its routes. */
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** Whom `onRequest` admitted. */
  readonly callerOf: (request: FastifyRequest) => Caller
}

/**
 * @param admit gives the caller, or throws what the request is answered with
 * @example
 * const { onRequest, callerOf } = createAuthentication((request) => keyOf(request))
 * app.post('/things', { onRequest }, async (request) => things.of(callerOf(request)))
 */
export function createAuthentication<Caller extends object>(
  admit: (request: FastifyRequest, reply: FastifyReply) => Caller | Promise<Caller>,
): Authentication<Caller> {
  const callers = new WeakMap<FastifyRequest, Caller>()
  return {
    async onRequest(request, reply) {
      callers.set(request, await admit(request, reply))
    },
    callerOf(request) {
      const caller = callers.get(request)
      if (caller === undefined) throw new Error(`${request.routeOptions.url} has no onRequest that admits its callers`)
      return caller
    },
  }
}
