import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'

/** Every route that is registered until the test ends, as 'GET /admin/messages/{ref}'. Preflights are nobody's business. */
export function collectRoutes(t: TestContext): Set<string> {
  const routes = new Set<string>()
  const listen = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => {
      // A prefix and '/' are two routes to Fastify, with and without the last slash.
      const path = url.replace(/(?<=.)\/$/, '').replace(/:(\w+)/g, '{$1}')
      for (const each of [method].flat()) if (each !== 'OPTIONS') routes.add(`${each} ${path}`)
    })
  }
  subscribe('fastify.initialization', listen)
  t.after(() => unsubscribe('fastify.initialization', listen))
  return routes
}
