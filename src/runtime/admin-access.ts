import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { AccessKey, Scope } from './access.ts'
import { HttpError } from './http-error.ts'
import { keyAuthentication } from './key-authentication.ts'
import { mediaTypeOf } from './request-bodies.ts'
import { demandStorableMembers, demandStorableParameters } from './unstorable.ts'

export interface AdminRoute {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** A route without a scope cannot be written. */
  readonly scope: Scope
  /** What it does, in one plain sentence: it stands in /openapi.json, as do the rest of these words. */
  readonly says: string
  readonly params?: Readonly<Record<string, string | TSchema>>
  /** By a sentence, or by a schema that has it as its description. */
  readonly query?: Readonly<Record<string, string | TSchema>>
  /** What it takes and answers, by content type; tests hold answers against it. A body of another type is answered 415. */
  readonly body?: Readonly<Record<string, TSchema>>
  /** Those of its content types that the handler reads as a stream of any length. */
  readonly streamed?: readonly string[]
  /** Its body may be as large as the configuration allows; left out: 256 KiB. */
  readonly largeBody?: true
  readonly gives: Readonly<Record<string, TSchema>>
  /** Statuses that it answers beside those of every such route, and when. */
  readonly refuses?: Readonly<Record<number, string>>
  readonly handler: (request: FastifyRequest, key: AccessKey, reply: FastifyReply) => Promise<unknown>
}

const smallBody = 256 * 1024

/** Registers routes that answer JSON to keys with the right scope only. */
export function adminRoutes(app: FastifyInstance, keys: readonly AccessKey[], routes: readonly AdminRoute[]): void {
  const missing = 'this route needs one of our own keys in the header X-Api-Key'
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
        // A stream of any length is not collected first.
        server.addContentTypeParser([...streamed], (_request, body, done) => done(null, body))
        register(server)
      })
  }
}

function demandScope({ name, scopes }: AccessKey, scope: Scope): void {
  if (scopes.includes(scope)) return
  throw new HttpError(403, `the key ${name} lacks the scope ${scope}: add it in the configuration`)
}

/** Other names of a content type. */
const sameType: Readonly<Record<string, string>> = { 'application/jsonl': 'application/x-ndjson' }

/** A body that names no content type counts as JSON. */
function demandType(request: FastifyRequest, body: AdminRoute['body']): void {
  if (body === undefined) return
  const type = mediaTypeOf(request) || 'application/json'
  if ((sameType[type] ?? type) in body) return
  throw new HttpError(415, `content-type ${type} is not read here: send ${Object.keys(body).join(' or ')}`)
}

/** The JSON object of a request's body. */
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
 * What a change is for: at least one member of a filter, or `"all": true` and no other. A filter that names something unknown, or
 * nothing at all, would change more than was meant.
 *
 * @param names the members of the filter
 */
export function filterOrAll(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const { all, ...filter } = given
  const filtered = names.some((name) => name in filter)
  if (all !== undefined && all !== true) throw new HttpError(400, 'all must be true, or left out')
  if (all === true && filtered) throw new HttpError(400, 'the body has a filter and "all": true: send one of them')
  if (all === undefined && !filtered)
    throw new HttpError(400, `say which: send a filter (${names.join(', ')}), or "all": true for every one`)
  return filter
}

/** A parameter of the query that is a whole number from `least` on. */
export function wholeNumber(name: string, text: string | undefined, otherwise: number, least = 0): number {
  if (text === undefined) return otherwise
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least) return value
  throw new HttpError(400, `${name} must be a whole number, ${least} or more`)
}
