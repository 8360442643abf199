import cors from '@fastify/cors'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type DescribedRoute, json, nullable, textOf } from '../contract/documents/described.ts'
import { subscriberAuthentication } from '../runtime/app-access.ts'
import { HttpError } from '../runtime/http.ts'
import { checkSecrets, type Subscriber } from '../runtime/subscriber-token.ts'
import type { Database } from '../store/database.ts'
import { createHub } from './hub.ts'
import { notificationJson } from './notification.ts'
import { lastNumber, page } from './store.ts'
import { openStream } from './stream.ts'

export interface InboxRoutesOptions {
  readonly database: Pick<Database, 'read' | 'onWake'>
  /** Secrets of subscriber tokens, each at least 32 bytes. Two while one replaces the other. */
  readonly secrets: readonly string[]
  /** Origins of the pages that may call /app/* from a browser: 'https://www.example.com'. */
  readonly origins: readonly string[]
  /** May this user see their inbox now (design §5.3)? Asked on each list, each opening of a stream, and before what a stream shows. */
  readonly allowed?: (brand: string, userId: string) => Promise<boolean>
  /** A sign of life on each stream. Less than the idle timeout of what is between. */
  readonly beatMs?: number
  /** How long a browser waits before it connects again. */
  readonly retryMs?: number
  /** Most events that a returning stream is sent one by one; above that it gets `reset` and fetches the list. */
  readonly replay?: number
  /** Most bytes that wait in memory for one client, give or take an event. */
  readonly bufferBytes?: number
  /** A client that has not read what waits for it for so long is dropped; it comes back where it was. */
  readonly stallMs?: number
  /** Most streams that are open at a time; one more is answered 503. */
  readonly streams?: number
  /** Most streams of one user; one more is answered 429, and the others go on. */
  readonly streamsPerUser?: number
  readonly now?: () => number
  /** Ends all streams when it aborts; closing the server does, too. */
  readonly signal?: AbortSignal
}

const Shown = Type.Object(
  {
    site_notification_id: Type.String({ description: 'The same on every attempt: shown once' }),
    id: Type.String({ description: 'activity.id' }),
    title: nullable(Type.String()),
    body: nullable(Type.String()),
    image_url: nullable(Type.String()),
    url: nullable(Type.String()),
    data: nullable(Type.Object({})),
    created_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'Notification' },
)

export const inboxDescribed: readonly DescribedRoute[] = [
  {
    method: 'GET',
    url: '/app/inbox',
    says: "Lists the user's on-site notifications, the newest first.",
    query: {
      limit: 'At most so many, up to 100; 25 where it is left out.',
      before: 'The `next` of the page before.',
    },
    gives: json(Type.Object({ items: Type.Array(Shown), next: nullable(Type.String()), last_event_id: Type.String() })),
  },
  {
    method: 'GET',
    url: '/app/inbox/stream',
    says: 'Streams the notifications as they come: events `notification` (one item as JSON), `ready` (up to date), `reset` (fetch the list).',
    headers: { 'last-event-id': 'The last id that is known: what came after it is sent first.' },
    gives: textOf('text/event-stream', 'Server-sent events'),
    refuses: { 429: 'The user has too many open streams. They stay open; close one before you open another.' },
  },
]

/**
 * What the operator's pages call, with a subscriber token (runtime/subscriber-token.ts) as `Authorization: Bearer`:
 *
 * - `GET /app/inbox?limit&before` → `{items, next, last_event_id}`, newest first; `next` is the following page's `before`.
 * - `GET /app/inbox/stream` → server-sent events: `notification` (data: one item), `ready` (the client is up to date),
 *   `reset` (fetch the list). A client that sends the last id it has as `Last-Event-ID` gets what came after it; one
 *   that begins with the list's `last_event_id` misses nothing in between.
 *
 * @example await app.register(inboxRoutes, { database, secrets: [secret], origins: ['https://www.example.com'] })
 */
export const inboxRoutes: FastifyPluginAsync<InboxRoutesOptions> = async (outer, options) => {
  const {
    database,
    secrets,
    origins,
    allowed,
    beatMs = 15_000,
    retryMs = 2_000,
    replay = 500,
    bufferBytes = 256 * 1024,
    stallMs = 30_000,
    streams = 10_000,
    streamsPerUser = 10,
    now = Date.now,
    signal,
  } = options
  checkSecrets(secrets)
  const { onRequest, callerOf } = subscriberAuthentication({ secrets, now })
  // With the prefix, the preflight route is /app/* only.
  await outer.register(app, { prefix: '/app' })

  async function app(server: FastifyInstance): Promise<void> {
    const hub = createHub({ database, beatMs, replay, bufferBytes, stallMs, streams, streamsPerUser, allowed, now })
    server.addHook('preClose', async () => hub.stop())
    signal?.addEventListener('abort', () => hub.stop(), { once: true })
    await server.register(cors, {
      origin: [...origins],
      methods: ['GET'],
      allowedHeaders: ['authorization', 'last-event-id', 'cache-control'],
      maxAge: 600,
    })

    server.get(
      '/inbox',
      { onRequest },
      async (request: FastifyRequest<{ Querystring: { limit?: string; before?: string } }>, reply) => {
        const subscriber = await entitled(request)
        const { limit, before } = request.query
        return list(
          subscriber,
          number('limit', limit, 1, 100, 25),
          number('before', before, 1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
          reply,
        )
      },
    )

    server.get('/inbox/stream', { onRequest }, async (request, reply) => {
      const { brand, userId, expiresAt } = await entitled(request)
      const full = hub.full(brand, userId)
      if (full) throw tooManyStreams(full, full === 'user' ? streamsPerUser : streams)
      const after = lastEventId(request.headers['last-event-id'])
      const headers = reply.getHeaders()
      reply.hijack()
      const stream = openStream(reply.raw, {
        brand,
        userId,
        after,
        expiresAt,
        headers,
        retryMs,
        onDrain: hub.drained,
        onEnd: hub.left,
      })
      hub.join(stream)
      // Gone while the token was looked at: its 'close' has been and will not come again.
      if (reply.raw.destroyed) stream.end('client')
    })
  }

  /** The user of the request. @throws HttpError 403 for a user who gets no messages at present */
  async function entitled(request: FastifyRequest): Promise<Subscriber> {
    const subscriber = callerOf(request)
    if (!allowed) return subscriber
    let may: boolean
    try {
      may = await allowed(subscriber.brand, subscriber.userId)
    } catch {
      throw new HttpError(503, 'it cannot be told at the moment whether this user may get messages: try again', 2)
    }
    if (!may) throw new HttpError(403, 'this user gets no messages at present: do not show the inbox')
    return subscriber
  }

  async function list(
    { brand, userId }: Subscriber,
    limit: number,
    before: number,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    // The number first: what comes between the two reads is then in the list and in the stream, and shown once.
    const [head] = await database.read(lastNumber(brand, userId))
    const rows = await database.read(page(brand, userId, before, limit + 1))
    const items = rows.slice(0, limit)
    const next = rows.length > limit ? String(items.at(-1)?.seq) : null
    const text = `{"items":[${items.map(notificationJson).join()}],"next":${JSON.stringify(next)},"last_event_id":"${head?.last ?? 0}"}`
    return reply.type('application/json; charset=utf-8').send(text)
  }
}

/** The newest stream is refused. Ending the oldest instead would make pages that reconnect end each other's streams forever. */
function tooManyStreams(of: 'user' | 'process', most: number): HttpError {
  return of === 'user'
    ? new HttpError(
        429,
        `this user has ${most} open streams already: close one, or let the tabs of a browser share one`,
        30,
      )
    : new HttpError(503, `${most} streams are open here already: ask again`, 5)
}

/** Undefined: from now on. What cannot be read is a number that was never given, and is answered with `reset`. */
function lastEventId(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || header === '') return undefined
  return /^\d{1,15}$/.test(header) ? Number(header) : 1e15
}

function number(name: string, text: string | undefined, least: number, most: number, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new HttpError(400, `${name} must be a whole number from ${least} to ${most}`)
}
