import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { AccessKey, Scope } from './access.ts'
import { HttpError } from './http-error.ts'
import { keyAuthentication } from './key-authentication.ts'
import { mediaTypeOf } from './request-bodies.ts'

export interface AdminRoute {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** A route without a scope cannot be written. */
  readonly scope: Scope
  /** What it does, in one plain sentence: it stands in /openapi.json, as do the rest of these words. */
  readonly says: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** What it takes and answers, by content type; tests hold answers against it. A body of another type is answered 415. */
  readonly body?: Readonly<Record<string, TSchema>>
  /** Those of its content types that the handler reads as a stream of any length. */
  readonly streamed?: readonly string[]
  /** Its body may be as large as the configuration allows; left out: 256 KiB. */
  readonly largeBody?: true
  readonly gives: Readonly<Record<string, TSchema>>
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
  return value as Record<string, unknown>
}

/** A parameter of the query. */
export function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new HttpError(400, `${name} must be a whole number`)
}
