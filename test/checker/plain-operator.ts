// A small correct operator in plain Node. It imports nothing of src, so that the checker is tested against another reading of the
// interface. Mutants change one part of it: see mutants.ts.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export const key = 'key-of-the-plain-operator'
export const users = { normal: 'user-1', blocked: 'user-2', withoutDevice: 'user-3' }
export const lists: Record<string, string[]> = {
  blocked: [users.blocked, 'user-8', 'user-9'],
  excluded: ['user-7'],
  consent_push_notification: [users.normal, users.withoutDevice],
}
/** The source of this field fails after its first rows. */
export const failingField = 'consent_sms'
export const batchMax = 30

export type Channel = 'push' | 'site'
export const identifierNames = { push: 'push_id', site: 'site_notification_id' } as const

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly rawHeaders: readonly string[]
  readonly text: string
  /** Milliseconds from the first to the last byte of the body. */
  readonly bodyMs: number
  /** Aborted when the connection closes before the answer. */
  readonly closed: AbortSignal
}

export interface Answer {
  status: number
  headers: Record<string, string>
  /** Written one after the other. */
  body: string[]
  /** The pause between two pieces of the body. */
  pauseMs?: number
}

// biome-ignore lint/suspicious/noExplicitAny: the records of strangers
export type Value = any

/** The parts that a mutant may replace. */
export interface Rules {
  parse(text: string): Value
  /** The text of an id, for comparisons. */
  idText(id: Value): string
  /** @returns why the record is malformed; undefined if it is not */
  malformed(record: Value): string | undefined
  /** Two messages with the same key are the same. */
  key(channel: Channel, record: Value, mode: 'single' | 'batch'): string
  /** Where messages that are being delivered are remembered. */
  inFlightKey(key: string, mode: 'single' | 'batch'): string
  suppressed(channel: Channel, record: Value, mode: 'single' | 'batch'): string | undefined
  identifier(): string | number
  authenticate(request: Request): boolean
  /** Whether delivered messages survive a restart. */
  onDisk: boolean
  list(field: Value): Answer
}

export type Handler = (request: Request) => Promise<Answer>
/** Called at each start. `restarts` is 0 at the first. */
export type Wrap = (next: Handler, rules: Rules, restarts: number) => Handler
/** A fault below the level of requests and answers. */
export type OnSocket = (incoming: IncomingMessage, response: ServerResponse) => void

export interface Mutation {
  readonly rules?: (correct: Rules) => Partial<Rules>
  readonly wrap?: Wrap
  readonly onSocket?: OnSocket
  /** Called with the first part of a body whose connection was cut. */
  readonly onCut?: (text: string) => void
  /** How long a delivery takes. */
  readonly deliveryMs?: number
}

export interface PlainOperator {
  readonly url: string
  restart(): Promise<void>
  stop(): void
}

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: [write(value)],
})
export const error = (status: number, text: string, headers?: Record<string, string>): Answer =>
  json(status, { error: text }, headers)

// JSON.parse and JSON.stringify that keep the source text of numbers. TypeScript does not know them yet.
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): { rawJSON: string }
  isRawJSON(value: unknown): value is { rawJSON: string }
}
export const write = (value: unknown): string => JSON.stringify(value)
export const parseExact = (text: string): Value =>
  JSON.parse(text, ((_: string, value: unknown, { source }: { source: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? rawJSON(source) : value) as (
    k: string,
    v: Value,
  ) => Value)

const isId = (id: Value): boolean =>
  (typeof id === 'number' && id >= 0) ||
  (isRawJSON(id) && /^\d+$/.test(id.rawJSON)) ||
  (typeof id === 'string' && id !== '')

const correct: Rules = {
  parse: parseExact,
  idText: (id) => (isRawJSON(id) ? id.rawJSON : String(id)),
  malformed(record) {
    const activity = record?.activity
    if (typeof activity !== 'object' || activity === null) return 'the record has no object activity'
    if (!isId(activity.id)) return 'activity.id must be an integer or a text'
    if (typeof activity.user_id !== 'string' || activity.user_id === '') return 'activity.user_id must be a text'
    return activity.brand_id === 1 ? undefined : 'activity.brand_id must be 1'
  },
  key(channel, { activity }) {
    const { id, user_id, activity_id, action_id, trigger_hash } = activity
    return write([channel, this.idText(id), user_id, activity_id ?? null, action_id ?? null, trigger_hash ?? null])
  },
  inFlightKey: (of) => of,
  suppressed(channel, { activity: { user_id: user } }) {
    if (lists.blocked?.includes(user) || lists.excluded?.includes(user)) return 'the user is blocked'
    return channel === 'push' && user === users.withoutDevice ? 'the user has no device' : undefined
  },
  identifier: () => randomUUID(),
  authenticate: ({ headers }) => headers['x-api-key'] === key,
  onDisk: true,
  list(field) {
    const timestamp = new Date().toISOString()
    if (field === failingField)
      return { ...json(200, null), body: ['{"users":["user-1"', ',"user-2"]', ',"error":"the source failed"}'] }
    const found = Object.hasOwn(lists, field) ? lists[field] : undefined
    if (!found) return error(501, `no source for ${field}`)
    return { ...json(200, null), body: ['{"users":[', found.map(write).join(), `],"timestamp":"${timestamp}"}`] }
  },
}

type Outcome = { category: 'successful'; identifier: string | number } | { category: 'failed'; error: string }

export async function startPlainOperator({
  rules: change,
  wrap,
  onSocket,
  onCut,
  deliveryMs = 15,
}: Mutation = {}): Promise<PlainOperator> {
  const rules: Rules = { ...correct }
  Object.assign(rules, change?.(correct))
  let disk = new Map<string, string | number>()
  let inFlight = new Map<string, Promise<Outcome>>()

  async function deliver(channel: Channel, record: Value, mode: 'single' | 'batch'): Promise<Outcome> {
    const of = rules.key(channel, record, mode)
    const known = disk.get(of)
    if (known !== undefined) return { category: 'successful', identifier: known }
    const claim = rules.inFlightKey(of, mode)
    const other = inFlight.get(claim)
    if (other) return other
    const refusal = rules.suppressed(channel, record, mode)
    if (refusal !== undefined) return { category: 'failed', error: refusal }
    const delivering = sleep(deliveryMs).then((): Outcome => {
      const identifier = rules.identifier()
      disk.set(of, identifier)
      inFlight.delete(claim)
      return { category: 'successful', identifier }
    })
    inFlight.set(claim, delivering)
    return delivering
  }

  async function single(channel: Channel, text: string): Promise<Answer> {
    const record = parseBody(text)
    const malformed = record === undefined ? 'the body is not JSON' : rules.malformed(record)
    if (malformed !== undefined) return error(400, malformed)
    const outcome = await deliver(channel, record, 'single')
    if (outcome.category === 'failed') return error(422, outcome.error)
    return json(200, { [identifierNames[channel]]: outcome.identifier })
  }

  async function batch(channel: Channel, text: string): Promise<Answer> {
    const records = parseBody(text)
    if (!Array.isArray(records)) return error(400, 'the body must be an array of records')
    const answer: Record<string, object[]> = { successful: [], failed: [], fatal: [] }
    const reported = new Set<string>()
    const outcomes = records.map(async (record: Value, place): Promise<void> => {
      const id: Value = record?.activity?.id
      if (id === undefined || reported.has(rules.idText(id))) return
      reported.add(rules.idText(id))
      const malformed = rules.malformed(record)
      if (malformed !== undefined) return void answer.failed?.push({ id, error: malformed })
      if (place >= batchMax) return void answer.fatal?.push({ id, error: `a batch has at most ${batchMax} messages` })
      const outcome = await deliver(channel, record, 'batch')
      if (outcome.category === 'failed') answer.failed?.push({ id, error: outcome.error })
      else answer.successful?.push({ id, [identifierNames[channel]]: outcome.identifier })
    })
    await Promise.all(outcomes)
    return json(200, answer)
  }

  function parseBody(text: string): Value {
    try {
      return rules.parse(text)
    } catch {
      return undefined
    }
  }

  const routes: Record<string, (text: string) => Answer | Promise<Answer>> = {
    '/channels/push/single': (text) => single('push', text),
    '/channels/push/batch': (text) => batch('push', text),
    '/channels/site/single': (text) => single('site', text),
    '/channels/site/batch': (text) => batch('site', text),
    '/reconciliation': (text) => {
      const field = parseBody(text)?.field
      return typeof field === 'string' ? rules.list(field) : error(400, 'send {"field": "blocked"}')
    },
  }

  const correctHandler: Handler = async (request) => {
    const route = routes[request.path]
    if (!route) return error(404, 'no such path')
    if (request.method !== 'POST') return error(405, 'use POST', { allow: 'POST' })
    if (!rules.authenticate(request)) return error(401, 'unknown API key')
    if (request.headers['content-encoding']) return error(415, 'send the body uncompressed')
    return route(request.text)
  }

  let server: Server
  let restarts = 0
  async function listen(port: number): Promise<number> {
    const handler = wrap ? wrap(correctHandler, rules, restarts++) : correctHandler
    server = createServer((incoming, response) => {
      onSocket?.(incoming, response)
      serve(handler, incoming, response, onCut).catch(() => response.destroy())
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  function end(): void {
    server.close()
    server.closeAllConnections()
  }
  let isStopped = false

  const port = await listen(0)
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      isStopped = true
      end()
    },
    async restart() {
      end()
      inFlight = new Map()
      if (!rules.onDisk) disk = new Map()
      await sleep(20)
      // A stop may have come meanwhile, and a server that listened again would keep the process of the tests alive.
      if (!isStopped) await listen(port)
    },
  }
}

async function serve(
  handler: Handler,
  incoming: IncomingMessage,
  response: ServerResponse,
  onCut?: (text: string) => void,
): Promise<void> {
  const closed = new AbortController()
  // With a reason: without one, each request would make an error with its stack.
  response.once('close', () => closed.abort('closed'))
  const chunks: Buffer[] = []
  let from: number | undefined
  const textSoFar = (): string => Buffer.concat(chunks).toString('utf8')
  try {
    for await (const chunk of incoming) {
      from ??= performance.now()
      chunks.push(chunk as Buffer)
    }
  } catch (cut) {
    onCut?.(textSoFar())
    throw cut
  }
  const { method = '', url = '', headers, rawHeaders } = incoming
  const {
    status,
    headers: answered,
    body,
    pauseMs = 0,
  } = await handler({
    method,
    path: url,
    headers,
    rawHeaders,
    text: textSoFar(),
    bodyMs: from === undefined ? 0 : performance.now() - from,
    closed: closed.signal,
  })
  response.writeHead(status, answered)
  for (const [n, piece] of body.entries()) {
    if (n > 0 && pauseMs > 0) await sleep(pauseMs)
    response.write(piece)
  }
  response.end()
}
