// A route of /admin, /app or /v1/integration: its schemas validate each request, type its handler, and are shown in /openapi.json.

import type { IncomingMessage } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
  RouteGenericInterface,
} from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import { type DescribedRoute, requiresBody } from '../../contract/documents/described.ts'
import { readJsonBody } from '../../contract/json-body.ts'
import type { Authentication } from './authentication.ts'
import { demandStorableParameters } from './demand-storable.ts'
import { HttpError } from './http-error.ts'

export interface Route<
  Caller,
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> extends DescribedRoute {
  readonly method: 'GET' | 'POST'
  readonly params?: Params
  readonly query?: Query
  /** A JSON object. It may be left out if all its members are optional. */
  readonly body?: Body
  readonly gives?: Answer
  handler(
    request: TypedRequest<Params, Query, Body>,
    caller: Caller,
    reply: FastifyReply,
  ): Promise<Given<Static<Answer>> | FastifyReply>
}

/** An answer as a handler may give it: with readonly arrays, and with undefined for an optional member. */
export type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Given<Value[Name]> | (undefined extends Value[Name] ? undefined : never) }
    : Value

type TypedRequest<Params extends TObject, Query extends TObject, Body extends TSchema> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  IncomingMessage,
  { readonly params: Params; readonly querystring: Query; readonly body: Body },
  TypeBoxTypeProvider
>

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

export interface RouteAccess<Caller> extends Pick<Authentication<Caller>, 'callerOf'> {
  /** The hooks that authenticate the caller and check the headers, before any of the body is read. */
  readonly onRequest: Hook | Hook[]
  readonly bodyLimit?: number
  readonly config?: FastifyContextConfig
  /** Runs before the answer is sent. If it throws, the answer is the error. */
  readonly onSend?: Hook
  /** Checks the members of the body before its schema does. */
  readonly checkMembers?: (members: Readonly<Record<string, unknown>>) => void
}

/** Registers a route. Its answer is sent as JSON, unless the handler has sent one and returns the reply. */
export function addRoute<
  Caller,
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Answer extends TSchema,
>(
  app: FastifyInstance,
  route: Route<Caller, Params, Query, Body, Answer>,
  { onRequest, callerOf, checkMembers, ...options }: RouteAccess<Caller>,
): void {
  const { method, url, params, query, body } = route
  app.route({
    ...options,
    method,
    url,
    schema: { ...(params && { params }), ...(query && { querystring: query }), ...(body && { body }) },
    onRequest: [onRequest, async (request: FastifyRequest) => demandStorableParameters(request)].flat(),
    async preValidation(request) {
      if (!body) return
      const members = readMembers(request.body, body)
      checkMembers?.(members)
      request.body = members
    },
    async handler(request, reply) {
      const answer = await route.handler(request as TypedRequest<Params, Query, Body>, callerOf(request), reply)
      if (answer === reply) return reply
      return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer))
    },
  })
}

function readMembers(body: unknown, schema: TSchema): Readonly<Record<string, unknown>> {
  const isEmpty = body === undefined || body === null || (Buffer.isBuffer(body) && body.length === 0)
  if (isEmpty && !requiresBody(schema)) return {}
  if (!Buffer.isBuffer(body) || body.length === 0) throw new HttpError(400, 'the body is empty: send a JSON object')
  const json = readJsonBody(body)
  if (typeof json === 'string') throw new HttpError(400, `the body cannot be read: ${json}`)
  return json.fields
}
