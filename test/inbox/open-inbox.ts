// Test helpers: an inbox over real sockets, as a browser uses it, and tokens of two brands with equal user ids.

import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { appRoutes } from '../../src/base/http/app-access.ts'
import { createHttp, listen } from '../../src/base/http/http.ts'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import type { Database } from '../../src/base/store/database.ts'
import { createInbox, inboxMigrations } from '../../src/subjects/inbox/inbox.ts'
import { type InboxRoutesOptions, inboxRoutes } from '../../src/subjects/inbox/routes.ts'
import type { Message, Provider } from '../../src/subjects/providers/provider.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { temporary } from '../support/sides.ts'

export const secret = 'the-secret-of-the-inbox-tests-long-enough'
export const origin = 'https://www.larkspur.example'

export const openStore = (t: TestContext, url: string): Promise<Database> =>
  openTestDatabase(t, url, { migrations: inboxMigrations })

export async function sqliteUrl(t: TestContext): Promise<string> {
  return `sqlite:${join(await temporary(t), 'inbox.db')}`
}

export interface Inbox {
  readonly url: string
  close(): Promise<void>
}

export async function serveInbox(
  t: TestContext,
  database: Database,
  options: Partial<InboxRoutesOptions> = {},
): Promise<Inbox> {
  const app = createHttp('operator', 1_000_000)
  const { routes, stop } = inboxRoutes({ databaseOf: () => database, retryMs: 10, ...options })
  app.addHook('preClose', async () => stop())
  await appRoutes(
    app,
    { secrets: [secret], origins: [origin], brands: ['1', '2'], ...(options.now && { now: options.now }) },
    routes,
  )
  await app.ready()
  const listening = await listen('operator', (request, response) => app.routing(request, response))
  let closed: Promise<unknown> | undefined
  const close = async (): Promise<void> => {
    closed ??= app.close().then(() => listening.close(100))
    await closed
  }
  t.after(close)
  return { url: listening.url, close }
}

/** A new store with its inbox, and the token of user 1001 of brand 1. */
export async function openInbox(t: TestContext, store: string, options: Partial<InboxRoutesOptions> = {}) {
  const database = await openStore(t, store)
  return { database, inbox: await serveInbox(t, database, options), bearer: await token('1', '1001') }
}

let nextId = 1

export function message(brand: string, userId: string, content: object = { title: 'Hello' }): Message {
  const id = String(nextId++)
  return {
    brand,
    channel: 'site',
    id,
    userId,
    key: JSON.stringify(['site', id, userId, null, null, null]),
    ref: uuidv7(),
    text: JSON.stringify({ activity: { id: Number(id), user_id: userId }, ...content }),
    attempt: 1,
    context: {},
  }
}

/** Delivers like the send path: all writes of a call in one commit. */
export async function deliver(
  database: Database,
  messages: readonly Message[],
  provider: Provider = createInbox({ database }),
): Promise<void> {
  const context = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
  const results = await provider.send(messages, context)
  await database.commit(results.flatMap(({ writes = [] }) => writes))
}

export function token(brand: string, userId: string, ttlSeconds = 600): Promise<string> {
  return createSubscriberToken({ secret, brand, userId, ttlSeconds })
}

export interface Page {
  readonly items: readonly {
    readonly site_notification_id: string
    readonly title: string | null
    readonly [name: string]: unknown
  }[]
  readonly next: string | null
  readonly last_event_id: string
  readonly unseen: number
  readonly unread: number
  readonly error?: string
}

export async function list(
  inbox: Inbox,
  bearer: string,
  query = '',
): Promise<{ status: number; page: Page; headers: Headers }> {
  const response = await fetch(`${inbox.url}/app/inbox${query}`, {
    headers: { authorization: `Bearer ${bearer}`, origin },
    signal: AbortSignal.timeout(10_000),
  })
  return { status: response.status, page: (await response.json()) as Page, headers: response.headers }
}

export interface Marked {
  readonly status: number
  readonly body: {
    readonly unseen?: number
    readonly unread?: number
    readonly unknown?: readonly string[]
    readonly error?: string
  }
}

export async function mark(inbox: Inbox, bearer: string, body: object): Promise<Marked> {
  const response = await fetch(`${inbox.url}/app/inbox/mark`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', origin },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  })
  return { status: response.status, body: (await response.json()) as Marked['body'] }
}

export interface Followed {
  readonly response: IncomingMessage
  readonly events: readonly EventSourceMessage[]
  /** site_notification_ids in order of arrival. */
  readonly refs: readonly string[]
  readonly lastEventId: string | undefined
  /** Resolves when the condition is true; it is checked after each event and every 20 ms. */
  until(condition: (stream: Followed) => boolean): Promise<void>
  readonly ended: Promise<void>
  cut(): void
}

/** Opens the stream on its own connection. Every wait on it has a timeout. */
export function follow(inbox: Inbox, bearer: string, lastEventId?: string): Promise<Followed> {
  const { promise, resolve, reject } = Promise.withResolvers<Followed>()
  const headers = {
    authorization: `Bearer ${bearer}`,
    origin,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const request = get(`${inbox.url}/app/inbox/stream`, { headers, agent: false }, (response) => resolve(read(response)))
  request.on('error', reject)
  return promise
}

function read(response: IncomingMessage): Followed {
  const events: EventSourceMessage[] = []
  const refs: string[] = []
  const checks = new Set<() => void>()
  const ended = Promise.withResolvers<void>()
  let lastEventId: string | undefined
  const checkAll = (): void => {
    for (const check of checks) check()
  }
  const parser = createParser({
    onEvent(event) {
      events.push(event)
      lastEventId = event.id ?? lastEventId
      if (event.event === 'notification') refs.push(JSON.parse(event.data).site_notification_id)
      checkAll()
    },
  })
  response.setEncoding('utf8')
  response.on('data', (text: string) => parser.feed(text))
  response.on('close', () => ended.resolve())
  response.on('error', () => ended.resolve())
  const followed: Followed = {
    response,
    events,
    refs,
    get lastEventId() {
      return lastEventId
    },
    until(condition) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const check = (): void => {
        if (condition(followed)) resolve()
      }
      const timeout = setTimeout(
        () => reject(new Error(`not within 15 s; ${events.length} events, the last: ${JSON.stringify(events.at(-1))}`)),
        15_000,
      )
      checks.add(check)
      check()
      // The condition may also become true without an event.
      const interval = setInterval(check, 20)
      return promise.finally(() => {
        clearTimeout(timeout)
        clearInterval(interval)
        checks.delete(check)
      })
    },
    ended: ended.promise,
    cut: () => void response.destroy(),
  }
  return followed
}

export const isReady = ({ events }: Followed): boolean => events.some(({ event }) => event === 'ready')

/** Follows the stream, and waits until it is ready. */
export async function openStream(...args: Parameters<typeof follow>): Promise<Followed> {
  const stream = await follow(...args)
  await stream.until(isReady)
  return stream
}
