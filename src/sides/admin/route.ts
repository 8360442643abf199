// A route under /admin: its schemas and its handler. routes.ts lists all of them.

import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { AcceptedKeys } from '../../base/http/accepted-keys.ts'
import type { AccessKey, Scope } from '../../base/http/access.ts'
import { addressOf, networkOf } from '../../base/http/address.ts'
import type { Authentication } from '../../base/http/authentication.ts'
import { demandStorableMembers } from '../../base/http/demand-storable.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { keyAuthentication } from '../../base/http/key-authentication.ts'
import { mediaTypeOf } from '../../base/http/request-bodies.ts'
import { addRoute, type Route, type RouteAccess } from '../../base/http/route.ts'
import type { AuditTrail } from '../../subjects/audit/trail.ts'
import { type AdminCaller, type OpenEntry, openEntry } from './request-audit.ts'
import { reasonMemberOf } from './requests.ts'

/** A route of /admin. */
export interface AdminRoute<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> extends Route<AdminCaller, Params, Query, Body, Answer> {
  /** The scope that a key needs. */
  readonly scope: Scope
  /** The act of the audit trail. null: a use of the route leaves no entry. */
  readonly act: string | null
  /** The content types of `bodies` that the handler reads as a stream of any length. */
  readonly streamed?: readonly string[]
  /** Raises the body limit from 256 KiB to the configured limit. */
  readonly largeBody?: true
}

/** A route without its place: routes.ts gives it method, path, scope and act. */
export type AdminHandler<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> = Omit<AdminRoute<Params, Query, Body, Answer>, 'method' | 'url' | 'scope' | 'act'>

/** Types the handler of a route, and the calls of its clients, by the route's schemas. */
export const adminRoute = <
  Params extends TObject = TObject<Empty>,
  Query extends TObject = TObject<Empty>,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
>(
  route: AdminHandler<Params, Query, Body, Answer>,
): AdminHandler<Params, Query, Body, Answer> => route

type Empty = Record<never, never>

const smallBody = 256 * 1024

/**
 * Registers routes that answer with JSON, and only to keys with the required scope. Each use leaves an entry in the audit trail.
 *
 * @returns the authentication of the callers
 */
export function registerAdmin(
  app: FastifyInstance,
  keys: AcceptedKeys<AccessKey>,
  routes: readonly AdminRoute[],
  trail: AuditTrail,
): Authentication<AccessKey> {
  const missing = 'this route needs a key for /admin in the header X-Api-Key'
  const authentication = keyAuthentication({ keys, missing, unknown: missing })
  const { onRequest, callerOf } = authentication
  const entries = new WeakMap<FastifyRequest, OpenEntry>()
  for (const route of routes) {
    const { scope, act, body, bodies, streamed, largeBody } = route
    const recorded = { act, why: reasonMemberOf(route), schemas: route }
    const access: RouteAccess<AdminCaller> = {
      callerOf: (request) => ({ ...callerOf(request), audit: entries.get(request) as OpenEntry }),
      onRequest: [
        onRequest,
        async (request, reply) => {
          // Answers have texts and identifiers of users.
          reply.header('cache-control', 'no-store')
          const key = callerOf(request)
          if (!key.scopes.includes(scope)) refuseScope(request, key, scope)
          entries.set(request, openEntry(trail, recorded, request, key))
          if (body) demandType(request, ['application/json'])
          if (bodies) demandType(request, Object.keys(bodies))
        },
      ],
      checkMembers: demandStorableMembers,
      async onSend(request, reply) {
        const entry = reply.statusCode < 400 && entries.get(request)
        if (entry) await tellCause(entry.close(), callerOf(request))
      },
      ...(!largeBody && { bodyLimit: smallBody }),
      ...(streamed && { config: { streamed } }),
    }
    const told: typeof route = { ...route, handler: (...given) => tellCause(route.handler(...given), given[1]) }
    if (!streamed) addRoute(app, told, access)
    else
      app.register(async (server) => {
        // Passes the stream on without buffering it.
        server.addContentTypeParser([...streamed], (_request, body, done) => done(null, chunksOf(body)))
        addRoute(server, told, access)
      })
  }
  return authentication

  function refuseScope(request: FastifyRequest, { name }: AccessKey, scope: Scope): never {
    trail.refusedKeys.count({
      address: networkOf(addressOf(request.raw)),
      by: name,
      reason: `the key lacks the scope ${scope}`,
    })
    throw new HttpError(403, `the key ${name} lacks the scope ${scope}: add it in the configuration`)
  }
}

/** A handler that stops reading, or fails, does not destroy the request: its connection has the answer and the rest of the body. */
async function* chunksOf(body: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of body.iterator({ destroyOnReturn: false })) yield chunk
}

/** A key that may read states may also read why the store cannot answer. */
async function tellCause<Answer>(answer: Promise<Answer>, { scopes }: AccessKey): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    // StoreUnavailable. This folder knows no store.
    const { code, message } = error as { readonly code?: unknown; readonly message: string }
    if (code !== 'unavailable' || !scopes.includes('counts')) throw error
    throw new HttpError(503, `the server cannot answer now: ${message}`, 1, { cause: error })
  }
}

/** Aliases of content types. */
const typeAliases: Readonly<Record<string, string>> = { 'application/jsonl': 'application/x-ndjson' }

/** A body without a content type is treated as JSON. */
function demandType(request: FastifyRequest, types: readonly string[]): void {
  const type = mediaTypeOf(request) || 'application/json'
  if (types.includes(typeAliases[type] ?? type)) return
  throw new HttpError(415, `content-type ${type} is not supported here: send ${types.join(' or ')}`)
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
