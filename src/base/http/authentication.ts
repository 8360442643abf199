import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Authenticates the callers of a route by the request headers, before any of the body is read. */
export interface Authentication<Caller> {
  /** The `onRequest` hook of each authenticated route. */
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** The caller that `onRequest` authenticated. */
  readonly callerOf: (request: FastifyRequest) => Caller
}

/** A partner has a key. Anybody may be a user, or may send what looks like a signed call. */
export type CallerKind = 'partner' | 'anybody'

const kinds = new WeakMap<FastifyRequest, CallerKind>()

const known = new WeakSet<Socket>()

/** Whether a request of the connection had a right key or token. */
export const isKnown = (socket: Socket): boolean => known.has(socket)

/** undefined: no route has authenticated the caller. */
export const callerKind = (request: FastifyRequest): CallerKind | undefined => kinds.get(request)

/**
 * @param authenticate returns the caller, or throws the error with which the request is answered
 * @param kind of all callers of the route; the log only counts the refused requests of anybody
 * @example
 * const { onRequest, callerOf } = createAuthentication((request) => keyOf(request))
 * app.post('/orders', { onRequest }, async (request) => listOrders(callerOf(request)))
 */
export function createAuthentication<Caller extends object>(
  authenticate: (request: FastifyRequest, reply: FastifyReply) => Caller | Promise<Caller>,
  kind: CallerKind = 'partner',
): Authentication<Caller> {
  const callers = new WeakMap<FastifyRequest, Caller>()
  return {
    async onRequest(request, reply) {
      callers.set(request, await authenticate(request, reply))
      kinds.set(request, kind)
      known.add(request.raw.socket)
    },
    callerOf(request) {
      const caller = callers.get(request)
      if (caller === undefined)
        throw new Error(`${request.routeOptions.url} has no onRequest hook that authenticates its callers`)
      return caller
    },
  }
}
