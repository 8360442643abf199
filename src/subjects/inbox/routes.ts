import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { type AppRoute, appRoute } from '../../base/http/app-access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import type { Subscriber } from '../../base/http/subscriber-token.ts'
import { clock } from '../../base/runtime/clock.ts'
import type { Database } from '../../base/store/database.ts'
import { limitOf, nullable, textOf } from '../../contract/documents/described.ts'
import { createHub, type HubOptions, hubDefaults } from './hub.ts'
import { type Mark, markByRef, marks, markUpTo, type StatusOps } from './marks.ts'
import { Notification, notificationJson } from './notification.ts'
import { countsOf, type InboxPart, pageOp, userStateOp } from './store.ts'
import { openStream } from './stream.ts'

export interface InboxRoutesOptions extends Partial<Omit<HubOptions, 'databaseOf'>> {
  /** The database of a brand. */
  readonly databaseOf: (brand: string) => Pick<Database, 'read' | 'commit' | 'wake' | 'onWake'>
  /** Records the marks as delivery statuses, in the same commit. Absent: not recorded. */
  readonly statusOps?: StatusOps | undefined
  /** Delay before a browser reconnects. */
  readonly retryMs?: number
  /** Ends all streams when it aborts, as closing the server does. */
  readonly signal?: AbortSignal
}

const Counts = {
  unseen: Type.Integer({ description: 'Notifications that are neither seen, dismissed, archived nor expired' }),
  unread: Type.Integer({ description: 'Notifications that are neither read, dismissed, archived nor expired' }),
}

const Page = Type.Object({
  items: Type.Array(Notification),
  next: nullable(Type.String()),
  last_event_id: Type.String(),
  ...Counts,
})

/** Most identifiers in one request of POST /app/inbox/mark. */
const mostIds = 500
const MarkRequest = Type.Object(
  {
    as: Type.Union(marks.map((mark) => Type.Literal(mark)) as [ReturnType<typeof Type.Literal<Mark>>]),
    site_notification_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: mostIds }),
    ),
    up_to: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}$',
        title: 'a text of 1 to 15 digits',
        description: 'Instead of identifiers: all notifications of the list with this `last_event_id`, on all pages.',
      }),
    ),
  },
  { additionalProperties: false },
)

export interface InboxRoutes {
  readonly routes: readonly AppRoute[]
  /** Ends all streams. */
  stop(): void
}

/**
 * The routes by which the operator's pages read the inbox of their user:
 *
 * - `GET /app/inbox?limit&before&archived` → `{items, next, last_event_id, unseen, unread}`, newest first; `next` is the `before`
 *   of the following page.
 * - `GET /app/inbox/stream` → server-sent events: `notification` (data: one new or changed item), `counts` (unseen and unread),
 *   `ready` (the client is up to date), `reset` (fetch the list). A client that sends its last id as `Last-Event-ID` gets the
 *   changes after it. With the `last_event_id` of the list it misses none.
 * - `POST /app/inbox/mark` with `{as, site_notification_ids}` or `{as, up_to}` marks notifications as seen, read, clicked,
 *   dismissed or archived (row 23) → `{unseen, unread, unknown}`.
 */
export function inboxRoutes(options: InboxRoutesOptions): InboxRoutes {
  const { databaseOf, allowed, statusOps, retryMs = 2_000, signal } = options
  const hubOptions: HubOptions = { ...hubDefaults, now: clock.now, ...options }
  const { streams, now } = hubOptions
  const hub = createHub(hubOptions)
  signal?.addEventListener('abort', () => hub.stop(), { once: true })

  const list = appRoute({
    method: 'GET',
    url: '/app/inbox',
    says: "Lists the user's on-site notifications, newest first.",
    query: Type.Object({
      limit: Type.Optional(limitOf(100, 25)),
      before: Type.Optional(
        Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'The `next` of the previous page.' }),
      ),
      archived: Type.Optional(Type.Boolean({ description: 'true: the archived notifications instead of the others.' })),
    }),
    gives: Page,
    async handler({ query: { limit = 25, before = Number.MAX_SAFE_INTEGER, archived = false } }, subscriber, reply) {
      await demandAllowed(subscriber)
      return sendList(subscriber, { limit, before, part: archived ? 'archive' : 'inbox' }, reply)
    },
  })

  const mark = appRoute({
    method: 'POST',
    url: '/app/inbox/mark',
    says: 'Marks notifications of the user, on all devices of the user. Each mark is set once, with its first time. `clicked` and `archived` also mark as read, and every mark also marks as seen.',
    body: MarkRequest,
    gives: Type.Object({
      ...Counts,
      unknown: Type.Array(Type.String(), { description: 'The identifiers that are not in the inbox of the user.' }),
    }),
    async handler({ body: { as, site_notification_ids: refs, up_to: upTo } }, subscriber) {
      await demandAllowed(subscriber)
      if ((refs === undefined) === (upTo === undefined))
        throw new HttpError(400, 'the body needs either site_notification_ids or up_to: give one of them')
      const { brand, userId } = subscriber
      const change = { brand, userId, mark: as, at: now() }
      let unknown: readonly string[] = []
      const marking = { database: databaseOf(brand), statusOps }
      if (refs) unknown = await markByRef(marking, change, refs)
      else await markUpTo(marking, change, Number(upTo))
      const [state] = await marking.database.read(userStateOp(brand, userId, now()))
      return { ...countsOf(state), unknown }
    },
  })

  const stream = appRoute({
    method: 'GET',
    url: '/app/inbox/stream',
    longLived: true,
    says: 'Streams new and changed notifications. Events: `notification` (one item as JSON, new or changed), `counts` (`unseen` and `unread`), `ready` (the client is up to date), `reset` (fetch the list again).',
    headers: { 'last-event-id': 'The last id that the client received: later changes are sent first.' },
    files: textOf('text/event-stream', 'Server-sent events'),
    async handler({ headers: { 'last-event-id': lastEventId } }, subscriber, reply) {
      await demandAllowed(subscriber)
      const { brand, userId, issuedAt, expiresAt } = subscriber
      if (!hub.makeRoom(brand, userId))
        throw new HttpError(503, `${streams} streams are open here already: repeat the request`, 5)
      const headers = reply.getHeaders()
      reply.hijack()
      const opened = openStream(reply.raw, {
        brand,
        userId,
        after: readLastEventId(lastEventId),
        issuedAt,
        expiresAt,
        headers,
        retryMs,
        onDrain: hub.onDrain,
        onEnd: hub.onEnd,
      })
      hub.add(opened)
      // The client left before the listeners were added: there will be no other 'close' event.
      if (reply.raw.destroyed) opened.end('client')
      return reply
    },
  })
  return { routes: [list, stream, mark], stop: () => hub.stop() }

  /** @throws HttpError 403 for a user who gets no messages at present */
  async function demandAllowed({ brand, userId }: Subscriber): Promise<void> {
    if (!allowed) return
    let isAllowed: boolean
    try {
      isAllowed = await allowed(brand, userId)
    } catch {
      throw new HttpError(503, 'it is unknown at the moment whether this user may get messages: repeat the request', 2)
    }
    if (!isAllowed) throw new HttpError(403, 'this user gets no messages at present: do not show the inbox')
  }

  async function sendList(
    { brand, userId }: Subscriber,
    { limit, before, part }: { readonly limit: number; readonly before: number; readonly part: InboxPart },
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    // The number is read first: a notification between the two reads is in the list and in the stream. The client shows it once.
    const database = databaseOf(brand)
    const [state] = await database.read(userStateOp(brand, userId, now()))
    const rows = await database.read(pageOp({ brand, userId, part, before, most: limit + 1, now: now() }))
    const items = rows.slice(0, limit)
    const rest: Omit<Static<typeof Page>, 'items'> = {
      next: rows.length > limit ? String(items.at(-1)?.seq) : null,
      last_event_id: String(state?.last ?? 0),
      ...countsOf(state),
    }
    const text = `{"items":[${items.map(notificationJson).join()}],${JSON.stringify(rest).slice(1)}`
    return reply.type('application/json; charset=utf-8').send(text)
  }
}

/** Undefined: the stream starts now. An unreadable header becomes a number that was never assigned: the answer is `reset`. */
function readLastEventId(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || header === '') return undefined
  return /^\d{1,15}$/.test(header) ? Number(header) : 1e15
}
