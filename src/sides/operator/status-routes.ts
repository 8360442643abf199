// GET /messages/status (row 24): the platform reads the statuses of its brands, page by page.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { AcceptedKeys } from '../../base/http/accepted-keys.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { addRoute, type Route } from '../../base/http/route.ts'
import { clock } from '../../base/runtime/clock.ts'
import { serializeByKey } from '../../base/runtime/serialize-by-key.ts'
import { sleep } from '../../base/runtime/sleep.ts'
import { limitOf, plainText } from '../../contract/documents/described.ts'
import { statusPagePath } from '../../contract/endpoints.ts'
import { mostCursor, StatusPage, statusPageJson } from '../../contract/status-page.ts'
import { mostStatusRecords } from '../../contract/status-record.ts'
import type { StatusPages } from '../../subjects/status/pages.ts'
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

/** Polls of one key wait for each other: a platform has a poller for each of its lanes. Further polls are refused. */
const mostWaitingPolls = 4
/** A poll takes milliseconds of the process. So that the polls of a key take at most a quarter of its time, a rest follows each. */
const restPerMs = 3
const longestRestMs = 50

/** @returns the description of the route, for the documents */
export function statusRoutes(
  app: FastifyInstance,
  { pages, keys }: { readonly pages: StatusPages; readonly keys: AcceptedKeys<ApiKey> },
): Route<ApiKey, never, typeof query> {
  const inTurn = runPollsInTurn()
  const route: Route<ApiKey, never, typeof query> = {
    method: 'GET',
    url: statusPagePath,
    says: 'Returns the statuses of messages, in the order in which they were recorded. Poll with the `next` of each answer.',
    query,
    gives: StatusPage,
    refuses: {
      503: 'This key has polls under way already. Retry after the time in Retry-After.',
      410: 'The cursor is of another database, or was forgotten. The body has `restart`, the cursor to go on with.',
    },
    async handler({ query: { after, limit = mostStatusRecords } }, key, reply) {
      const page = await inTurn(key, () => pages.read(key.brands, after, limit))
      reply.type('application/json; charset=utf-8')
      if (page.restart !== undefined)
        return reply.code(410).send(JSON.stringify({ error: gone, restart: page.restart }))
      return reply.send(statusPageJson(page.records, page.next))
    },
  }
  addRoute(app, route, authentication(keys, 'statuses'))
  return route
}

/** Runs the polls of a key one at a time, with rests between them. @throws HttpError 503 if too many of them wait already */
function runPollsInTurn(): <T>(key: ApiKey, poll: () => Promise<T>) => Promise<T> {
  const serialize = serializeByKey()
  const open = new Map<string, number>()
  const restsUntil = new Map<string, number>()
  const pollAfterRest = async <T>(name: string, poll: () => Promise<T>): Promise<T> => {
    const restMs = (restsUntil.get(name) ?? 0) - clock.monotonic()
    if (restMs > 0) await sleep(restMs)
    const began = clock.monotonic()
    try {
      return await poll()
    } finally {
      const now = clock.monotonic()
      restsUntil.set(name, now + Math.min(longestRestMs, restPerMs * (now - began)))
    }
  }
  return async ({ name }, poll) => {
    const others = open.get(name) ?? 0
    if (others > mostWaitingPolls)
      throw new HttpError(503, `the key ${name} has ${others} polls under way already: send one at a time`, 1)
    open.set(name, others + 1)
    try {
      return await serialize(name, () => pollAfterRest(name, poll))
    } finally {
      const left = (open.get(name) as number) - 1
      if (left > 0) open.set(name, left)
      else open.delete(name)
    }
  }
}
