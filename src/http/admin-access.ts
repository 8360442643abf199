import type { IncomingMessage } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest, RawServerDefault, RouteGenericInterface } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { DescribedRoute } from '../contract/documents/described.ts'
import type { AccessKey, Scope } from './access.ts'
import { demandStorableMembers, demandStorableParameters } from './demand-storable.ts'
import { HttpError } from './http-error.ts'
import { keyAuthentication } from './key-authentication.ts'
import { mediaTypeOf } from './request-bodies.ts'

/** A route of /admin. Its schemas validate each request, type the handler, and are shown in /openapi.json. */
export interface AdminRoute<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> extends DescribedRoute {
  readonly method: 'GET' | 'POST'
  /** Required, so that no route can be declared without a scope. */
  readonly scope: Scope
  readonly params?: Params
  readonly query?: Query
  /** A JSON object of at most 256 KiB. */
  readonly body?: Body
  readonly gives?: Answer
  /** The content types of `bodies` that the handler reads as a stream of any length. */
  readonly streamed?: readonly string[]
  /** Raises the body limit from 256 KiB to the configured limit. */
  readonly largeBody?: true
  handler(
    request: AdminRequest<Params, Query, Body>,
    key: AccessKey,
    reply: FastifyReply,
  ): Promise<Given<Static<Answer>> | FastifyReply>
}

/** An answer as a handler may give it: with readonly arrays, and with undefined for an optional member. */
type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Given<Value[Name]> | (undefined extends Value[Name] ? undefined : never) }
    : Value

type AdminRequest<Params extends TObject, Query extends TObject, Body extends TSchema> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  IncomingMessage,
  { readonly params: Params; readonly querystring: Query; readonly body: Body },
  TypeBoxTypeProvider
>

/** Types the handler of a route by the route's schemas. */
export function adminRoute<Params extends TObject, Query extends TObject, Body extends TSchema, Answer extends TSchema>(
  route: AdminRoute<Params, Query, Body, Answer>,
): AdminRoute {
  return route
}

const smallBody = 256 * 1024

/** Registers routes that answer with JSON, and only to keys with the required scope. */
export function adminRoutes(app: FastifyInstance, keys: readonly AccessKey[], routes: readonly AdminRoute[]): void {
  const missing = 'this route needs a key for /admin in the header X-Api-Key'
  const { onRequest, callerOf } = keyAuthentication({ keys, missing, unknown: missing })
  for (const route of routes) {
    const { method, url, scope, params, query, body, bodies, streamed, largeBody } = route
    const register = (server: FastifyInstance): void => {
      server.route({
        method,
        url,
        schema: { ...(params && { params }), ...(query && { querystring: query }), ...(body && { body }) },
        ...(!largeBody && { bodyLimit: smallBody }),
        ...(streamed && { config: { streamed } }),
        onRequest: [
          onRequest,
          async (request) => {
            demandScope(callerOf(request), scope)
            if (body) demandType(request, ['application/json'])
            if (bodies) demandType(request, Object.keys(bodies))
            demandStorableParameters(request)
          },
        ],
        async preValidation(request) {
          if (body) request.body = readJsonObject(request)
        },
        async handler(request, reply) {
          const answer = await route.handler(
            request as AdminRequest<TObject, TObject, TSchema>,
            callerOf(request),
            reply,
          )
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
function demandType(request: FastifyRequest, types: readonly string[]): void {
  const type = mediaTypeOf(request) || 'application/json'
  if (types.includes(typeAliases[type] ?? type)) return
  throw new HttpError(415, `content-type ${type} is not supported here: send ${types.join(' or ')}`)
}

/** Parses a request's body as a JSON object. */
function readJsonObject(request: FastifyRequest): object {
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
  return value
}

/**
 * Reads the selection of a bulk change: either at least one filter member, or `"all": true` without a filter. A body with
 * neither is refused, since it would select every entry by accident.
 *
 * @param names the allowed filter members
 */
export function filterOrAll<Given extends { readonly all?: true }>(
  { all, ...filter }: Given,
  names: readonly string[],
): Omit<Given, 'all'> {
  const filtered = names.some((name) => name in filter)
  if (all && filtered) throw new HttpError(400, 'the body has a filter and "all": true: send only one of them')
  if (!all && !filtered)
    throw new HttpError(400, `nothing is selected: send a filter (${names.join(', ')}), or "all": true to select all`)
  return filter
}
