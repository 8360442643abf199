// The requests of the commands and of the console to /admin. The schemas of the routes type each request and its answer. Only types
// are imported, so a command does not load the server.

import type { Static, TSchema } from 'typebox'
import type { Given } from '../../base/http/route.ts'
import type { operatorRoutes, platformRoutes } from './routes.ts'

interface Routes {
  readonly operator: ReturnType<typeof operatorRoutes>[number]
  readonly platform: ReturnType<typeof platformRoutes>[number]
}

export type SideName = keyof Routes

type ByName<Route extends { readonly method: string; readonly url: string }> = {
  readonly [Each in Route as `${Each['method']} ${Each['url']}`]: Each
}

/** A route of this side: 'GET /admin/failed/:seq'. */
export type RouteName<Side extends SideName> = keyof ByName<Routes[Side]> & string

type Part<Side extends SideName, Name extends RouteName<Side>, Key extends string> = PartOf<
  ByName<Routes[Side]>[Name],
  Key
>
// Distributes over the routes of the same name on both sides.
type PartOf<Route, Key extends string> = Route extends { readonly [Each in Key]?: infer Schema extends TSchema }
  ? Static<Schema>
  : never

type RequestPart<Name extends string, Value> =
  Record<never, never> extends Value
    ? { readonly [Each in Name]?: Given<Value> }
    : { readonly [Each in Name]: Given<Value> }

interface Further {
  /** The content type of a body that is not JSON. */
  readonly type?: string
  /** Called before each repetition. */
  readonly onRetry?: () => void
}

/** A request to this route. */
export type RequestOf<Side extends SideName, Name extends RouteName<Side>> = RequestPart<
  'params',
  Part<Side, Name, 'params'>
> &
  RequestPart<'query', Part<Side, Name, 'query'>> &
  RequestPart<'body', Part<Side, Name, 'body'>> &
  Further

/** The request, which may be left out if it has no required part. */
export type Requested<Side extends SideName, Name extends RouteName<Side>> =
  Record<never, never> extends RequestOf<Side, Name>
    ? [request?: RequestOf<Side, Name>]
    : [request: RequestOf<Side, Name>]

/** The JSON answer of this route. */
export type AnswerOf<Side extends SideName, Name extends RouteName<Side>> = Part<Side, Name, 'gives'>

/** A request to any route. */
export interface AnyRequest extends Further {
  readonly params?: object
  readonly query?: object
  readonly body?: unknown
}

export interface WrittenRequest {
  readonly method: 'GET' | 'POST'
  /** With the query. */
  readonly path: string
  readonly headers: { readonly 'content-type': string }
  readonly body?: string | Buffer
}

/**
 * Writes a request to a route.
 *
 * @example writeRequest('GET /admin/failed/:seq', { params: { seq: 7 } }) // { method: 'GET', path: '/admin/failed/7', … }
 */
export function writeRequest(name: string, { params = {}, query = {}, body, type }: AnyRequest): WrittenRequest {
  const [method, url = ''] = name.split(' ')
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]))
  const values = params as Readonly<Record<string, unknown>>
  const path = url.replace(/:(\w+)/g, (_, part: string) => encodeURIComponent(String(values[part])))
  return {
    method: method as 'GET' | 'POST',
    path: search.size === 0 ? path : `${path}?${search}`,
    headers: { 'content-type': type ?? 'application/json' },
    ...(body !== undefined && { body: type === undefined ? JSON.stringify(body) : (body as string | Buffer) }),
  }
}
