// Mounts one part of a side in a host server: node:http, Express or Fastify. Requests for other paths go to the host.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyPluginAsync } from 'fastify'
import { type Handler, noSniffing, type Side } from './http.ts'
import { reportStranger, shownPath } from './refusals.ts'
import { dropBody } from './request-bodies.ts'
import { admitRequest, limitUnanswered } from './unanswered.ts'

export interface Mount {
  /**
   * For node:http and Express, with or without a prefix. For a path that is not its own, it calls `next()`, or answers 404 if
   * there is no `next`. Until start() has resolved, it answers 503.
   *
   * @example app.use('/bellwire', operator.handler)
   */
  readonly handler: Handler
  /**
   * The same for Fastify 5. It does not change the parsers, hooks and routes of the host.
   *
   * @example await app.register(operator.fastify, { prefix: '/bellwire' })
   */
  readonly fastify: FastifyPluginAsync
}

export interface MountOptions {
  readonly side: Side
  /** `/metrics` is a single path; `/admin/*` is `/admin` and all paths below it. */
  readonly paths: readonly string[]
  /** Undefined until the side has started. */
  readonly routing: () => Routing | undefined
}

type Routing = (request: IncomingMessage, response: ServerResponse) => void

export function createMount({ side, paths, routing }: MountOptions): Mount {
  const exact = new Set(paths.map((path) => path.replace(/\/\*$/, '')))
  const below = paths.filter((path) => path.endsWith('/*')).map((path) => path.slice(0, -1))
  const owns = (path: string): boolean => exact.has(path) || below.some((start) => path.startsWith(start))

  const dispatch = limitUnanswered((request, response) => {
    const route = routing()
    if (route) return void route(request, response)
    response.setHeader('retry-after', '1')
    answer(request, response, 503, 'the server is starting: retry later')
  })

  return {
    handler(request, response, next) {
      const path = pathOf(request)
      if (owns(path)) return dispatch(request, response)
      if (next) return next()
      if (!admitRequest(request, response)) return
      const error = `this path does not exist${owns('/docs') ? ': GET /docs lists the routes' : ''}`
      reportStranger(request, { side, method: request.method ?? '', path: shownPath(path), status: 404, error })
      answer(request, response, 404, error)
    },
    async fastify(host) {
      // Leaves the body unparsed, so that its bytes are unchanged. Applies only to the plugin's own routes.
      host.removeAllContentTypeParsers()
      host.addContentTypeParser('*', (_request, _body, done) => done(null))
      const depth = host.prefix.split('/').filter((part) => part !== '').length
      for (const url of [...exact, ...below.map((start) => `${start}*`)])
        host.all(url, ({ raw }, reply) => {
          reply.hijack()
          // Sets `originalUrl` and `url` as Express does.
          const url = raw.url ?? '/'
          dispatch(Object.assign(raw, { originalUrl: url, url: withoutPrefix(url, depth) }), reply.raw)
        })
    },
  }
}

/**
 * Tries the handlers in order; the last one answers 404 if no handler has the path.
 *
 * @example createServer(chain(operator.handler, operator.admin.handler)) // everything on one port
 */
export function chain(...handlers: readonly Handler[]): Handler {
  return (request, response, next) => {
    const from = (i: number): void => {
      const last = i === handlers.length - 1
      handlers[i]?.(request, response, last ? next : (error) => (error ? next?.(error) : from(i + 1)))
    }
    from(0)
  }
}

/** The path as the router reads it: without the origin of an absolute URL (from a proxy), without repeated slashes, and without `?` or `#` and the rest. */
function pathOf({ url = '/' }: IncomingMessage): string {
  const path = url.replace(/^https?:\/\/.*?\//, '/').split(/[?#]/, 1)[0] as string
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

/** Removes a prefix of `depth` segments, which may be parameters. @example with 1: '/bellwire/admin/lanes' → '/admin/lanes' */
function withoutPrefix(url: string, depth: number): string {
  return url.replace(/^https?:\/\/.*?\//, '/').replace(new RegExp(`^(?:/[^/?#]*){${depth}}`), '')
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', [noSniffing[0]]: noSniffing[1] })
  response.end(JSON.stringify({ error }), () => dropBody(request))
}
