// A part of one side as a part of somebody's server: node:http, Express, Fastify. It knows its own paths and hands on all others.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyPluginAsync } from 'fastify'
import { emit } from './events.ts'
import { noSniffing, type Side } from './http.ts'
import { dropBody } from './request-bodies.ts'

/** A handler of node:http, and a middleware of Express: `next` is called for paths that are not its own. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void

export interface Mount {
  /**
   * For node:http and Express, with or without a prefix. Calls `next()` for every path that is not its own; without a `next` it
   * answers 404. Until start() has resolved it answers 503.
   *
   * @example app.use('/bellwire', operator.handler)
   */
  readonly handler: Handler
  /**
   * The same for Fastify 5. The host's own parsers, hooks and routes stay as they are.
   *
   * @example await app.register(operator.fastify, { prefix: '/bellwire' })
   */
  readonly fastify: FastifyPluginAsync
}

export interface MountOptions {
  readonly side: Side
  /** `/metrics` is one path, `/admin/*` is `/admin` and all paths below it. */
  readonly paths: readonly string[]
  /** Undefined until the side has started. */
  readonly routing: () => Routing | undefined
}

type Routing = (request: IncomingMessage, response: ServerResponse) => void

export function createMount({ side, paths, routing }: MountOptions): Mount {
  const exact = new Set(paths.map((path) => path.replace(/\/\*$/, '')))
  const below = paths.filter((path) => path.endsWith('/*')).map((path) => path.slice(0, -1))
  const owns = (path: string): boolean => exact.has(path) || below.some((start) => path.startsWith(start))

  function dispatch(request: IncomingMessage, response: ServerResponse): void {
    const route = routing()
    if (route) return void route(request, response)
    response.setHeader('retry-after', '1')
    answer(request, response, 503, 'the server is starting: ask again')
  }

  return {
    handler(request, response, next) {
      const path = pathOf(request)
      if (owns(path)) return dispatch(request, response)
      if (next) return next()
      const error = `there is nothing at ${path}${owns('/docs') ? ': GET /docs shows what there is' : ''}`
      emit('request.refused', { side, method: request.method ?? '', path, status: 404, error })
      answer(request, response, 404, error)
    },
    async fastify(host) {
      // The body is left unread, so that it arrives byte by byte. This holds for the plugin's own routes only.
      host.removeAllContentTypeParsers()
      host.addContentTypeParser('*', (_request, _body, done) => done(null))
      const depth = host.prefix.split('/').filter((part) => part !== '').length
      for (const url of [...exact, ...below.map((start) => `${start}*`)])
        host.all(url, ({ raw }, reply) => {
          reply.hijack()
          // As Express does it.
          const url = raw.url ?? '/'
          dispatch(Object.assign(raw, { originalUrl: url, url: withoutPrefix(url, depth) }), reply.raw)
        })
    },
  }
}

/**
 * Asks each handler in turn; the last one answers 404 for what none of them knows.
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

/** As the router reads it: a proxy's absolute address counts by its path, and what follows `?` or `#` does not. */
function pathOf({ url = '/' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/.*?\//, '/').split(/[?#]/, 1)[0] as string
}

/** '/bellwire/admin/lanes?limit=1' with a prefix of one part → '/admin/lanes?limit=1'. The parts may be parameters. */
function withoutPrefix(url: string, depth: number): string {
  return url.replace(/^https?:\/\/.*?\//, '/').replace(new RegExp(`^(?:/[^/?#]*){${depth}}`), '')
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', [noSniffing[0]]: noSniffing[1] })
  response.end(JSON.stringify({ error }), () => dropBody(request))
}
