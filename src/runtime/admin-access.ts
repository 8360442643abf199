import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { TSchema } from 'typebox'
import { type AccessKey, keyring, type Scope } from './access.ts'
import { HttpError } from './http.ts'

export interface AdminRoute {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** A route without a scope cannot be written. */
  readonly scope: Scope
  /** What it does, in one plain sentence: it stands in /openapi.json, as do the rest of these words. */
  readonly says: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** What it takes and answers, by content type; tests hold answers against it. */
  readonly body?: Readonly<Record<string, TSchema>>
  readonly gives: Readonly<Record<string, TSchema>>
  readonly handler: (request: FastifyRequest, key: AccessKey, reply: FastifyReply) => Promise<unknown>
}

/** Registers routes that answer JSON to keys with the right scope only. */
export function adminRoutes(app: FastifyInstance, keys: readonly AccessKey[], routes: readonly AdminRoute[]): void {
  const whose = keyring(keys)
  for (const { method, url, scope, handler } of routes) {
    const guarded: RouteHandlerMethod = async (request, reply) => {
      const presented = request.headers['x-api-key']
      const key = whose(typeof presented === 'string' ? presented : undefined)
      if (!key) throw new HttpError(401, 'this route needs one of our own keys in the header X-Api-Key')
      if (!key.scopes.includes(scope))
        throw new HttpError(403, `the key ${key.name} lacks the scope ${scope}: add it in the configuration`)
      const answer = await handler(request, key, reply)
      if (answer === reply) return reply
      return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer))
    }
    app.route({ method, url, handler: guarded })
  }
}

/** The JSON object of a request's body; no body is an empty one. */
export function jsonObject(request: FastifyRequest): Record<string, unknown> {
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) return {}
  let value: unknown
  try {
    value = JSON.parse(request.body.toString())
  } catch (error) {
    throw new HttpError(400, `the body is not JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError(400, 'the body must be a JSON object')
  return value as Record<string, unknown>
}

/** A parameter of the query. */
export function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new HttpError(400, `${name} must be a whole number`)
}
