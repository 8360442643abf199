import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { AccessKey, Scope } from './access.ts'
import { demandStorableMembers, demandStorableParameters } from './demand-storable.ts'
import { HttpError } from './http-error.ts'
import { keyAuthentication } from './key-authentication.ts'
import { mediaTypeOf } from './request-bodies.ts'

export interface AdminRoute {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Required, so that no route can be declared without a scope. */
  readonly scope: Scope
  /** Summary of the route in one plain sentence. /openapi.json shows all of these descriptions. */
  readonly says: string
  readonly params?: Readonly<Record<string, string | TSchema>>
  /** Each parameter has a description, or a schema with a description. */
  readonly query?: Readonly<Record<string, string | TSchema>>
  /** Schemas of the request body by content type. A body of another type is answered 415. */
  readonly body?: Readonly<Record<string, TSchema>>
  /** The content types that the handler reads as a stream of any length. */
  readonly streamed?: readonly string[]
  /** Raises the body limit from 256 KiB to the configured limit. */
  readonly largeBody?: true
  /** Schemas of the response body by content type; tests check responses against them. */
  readonly gives: Readonly<Record<string, TSchema>>
  /** Statuses of this route in addition to those of every admin route, each with its meaning. */
  readonly refuses?: Readonly<Record<number, string>>
  readonly handler: (request: FastifyRequest, key: AccessKey, reply: FastifyReply) => Promise<unknown>
}

const smallBody = 256 * 1024

/** Registers routes that answer with JSON, and only to keys with the required scope. */
export function adminRoutes(app: FastifyInstance, keys: readonly AccessKey[], routes: readonly AdminRoute[]): void {
  const missing = 'this route needs a key for /admin in the header X-Api-Key'
  const { onRequest, callerOf } = keyAuthentication({ keys, missing, unknown: missing })
  for (const route of routes) {
    const { scope, body, streamed, largeBody, handler } = route
    const register = (server: FastifyInstance): void => {
      server.route({
        method: route.method,
        url: route.url,
        ...(!largeBody && { bodyLimit: smallBody }),
        ...(streamed && { config: { streamed } }),
        onRequest: [
          onRequest,
          async (request) => {
            demandScope(callerOf(request), scope)
            demandType(request, body)
            demandStorableParameters(request)
          },
        ],
        async handler(request, reply) {
          const answer = await handler(request, callerOf(request), reply)
          if (answer === reply) return reply
          return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer))
        },
      })
    }
    if (!streamed) register(app)
    else
      app.register(async (server) => {
        // Passes the stream on without buffering it.
        server.addContentTypeParser([...streamed], (_request, body, done) => done(null, body))
        register(server)
      })
  }
}

function demandScope({ name, scopes }: AccessKey, scope: Scope): void {
  if (scopes.includes(scope)) return
  throw new HttpError(403, `the key ${name} lacks the scope ${scope}: add it in the configuration`)
}

/** Aliases of content types. */
const typeAliases: Readonly<Record<string, string>> = { 'application/jsonl': 'application/x-ndjson' }

/** A body without a content type is treated as JSON. */
function demandType(request: FastifyRequest, body: AdminRoute['body']): void {
  if (body === undefined) return
  const type = mediaTypeOf(request) || 'application/json'
  if ((typeAliases[type] ?? type) in body) return
  throw new HttpError(415, `content-type ${type} is not supported here: send ${Object.keys(body).join(' or ')}`)
}

/** Parses a request's body as a JSON object. */
export function jsonObject(request: FastifyRequest): Record<string, unknown> {
  if (!Buffer.isBuffer(request.body) || request.body.length === 0)
    throw new HttpError(400, 'the body is empty: send a JSON object')
  let value: unknown
  try {
    value = JSON.parse(request.body.toString())
  } catch (error) {
    throw new HttpError(400, `the body is not JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError(400, 'the body must be a JSON object')
  demandStorableMembers(value as Record<string, unknown>)
  return value as Record<string, unknown>
}

/**
 * Reads the selection of a bulk change: either at least one filter member, or `"all": true` without a filter. A body with
 * neither is refused, since it would select every entry by accident.
 *
 * @param names the allowed filter members
 */
export function filterOrAll(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const { all, ...filter } = given
  const filtered = names.some((name) => name in filter)
  if (all !== undefined && all !== true) throw new HttpError(400, 'all must be true, or omitted')
  if (all === true && filtered) throw new HttpError(400, 'the body has a filter and "all": true: send only one of them')
  if (all === undefined && !filtered)
    throw new HttpError(400, `nothing is selected: send a filter (${names.join(', ')}), or "all": true to select all`)
  return filter
}

/** Reads a query parameter as an integer of at least `least`; `otherwise` is the value of an absent parameter. */
export function wholeNumber(name: string, text: string | undefined, otherwise: number, least = 0): number {
  if (text === undefined) return otherwise
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least) return value
  throw new HttpError(400, `${name} must be a whole number, ${least} or more`)
}
