import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'

/** Collects every route that is registered until the test ends, as 'GET /admin/messages/{ref}'. CORS preflights are left out. */
export function collectRoutes(t: TestContext): Set<string> {
  const routes = new Set<string>()
  const listen = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => {
      // For a prefix and '/' Fastify registers two routes, with and without the final slash.
      const path = url.replace(/(?<=.)\/$/, '').replace(/:(\w+)/g, '{$1}')
      for (const each of [method].flat()) if (each !== 'OPTIONS') routes.add(`${each} ${path}`)
    })
  }
  subscribe('fastify.initialization', listen)
  t.after(() => unsubscribe('fastify.initialization', listen))
  return routes
}
