// GET /messages/status (row 24): the platform reads the statuses of its brands, page by page.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { limitOf, plainText } from '../contract/documents/described.ts'
import { statusPagePath } from '../contract/endpoints.ts'
import { mostCursor, StatusPage, statusPageJson } from '../contract/status-page.ts'
import { mostStatusRecords } from '../contract/status-record.ts'
import { addRoute, type Route } from '../http/route.ts'
import type { StatusPages } from '../status/pages.ts'
import { authentication } from './authenticate.ts'
import type { ApiKey } from './options.ts'

const query = Type.Object({
  after: Type.Optional(
    plainText(1, mostCursor, 'The `next` of the previous page. Absent: from the oldest status that is kept.'),
  ),
  limit: Type.Optional(limitOf(mostStatusRecords, mostStatusRecords)),
})

const gone =
  'the cursor is not of this database, or was forgotten: go on with `restart`. Records may repeat, and none is skipped'

/** @returns the description of the route, for the documents */
export function statusRoutes(
  app: FastifyInstance,
  { pages, keys }: { readonly pages: StatusPages; readonly keys: readonly ApiKey[] },
): Route<ApiKey, never, typeof query> {
  const route: Route<ApiKey, never, typeof query> = {
    method: 'GET',
    url: statusPagePath,
    says: 'Returns the statuses of messages, in the order in which they were recorded. Poll with the `next` of each answer.',
    query,
    gives: StatusPage,
    refuses: {
      410: 'The cursor is of another database, or was forgotten. The body has `restart`, the cursor to go on with.',
    },
    async handler({ query: { after, limit = mostStatusRecords } }, key, reply) {
      const page = await pages.read(key.brands, after, limit)
      reply.type('application/json; charset=utf-8')
      if (page.restart !== undefined)
        return reply.code(410).send(JSON.stringify({ error: gone, restart: page.restart }))
      return reply.send(statusPageJson(page.records, page.next))
    },
  }
  addRoute(app, route, authentication(keys))
  return route
}
