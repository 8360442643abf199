// The requests that a person makes a fake platform send: messages, and the list of a field.

import { requestOnce } from '../../base/http-client/dispatcher.ts'
import { clock } from '../../base/runtime/clock.ts'
import { apiKeyHeader, type Channel } from '../../contract/endpoints.ts'
import { type ReconciliationField, reconciliationFields } from '../../contract/records.ts'
import { type AnswerParser, createAnswerParser } from '../../subjects/reconcile/answer-parser.ts'
import { AnswerRefused, remedies } from '../../subjects/reconcile/answer-refused.ts'
import { requestList } from '../../subjects/reconcile/request-list.ts'
import { toObject } from './control.ts'

export interface PlatformActions {
  /** The address of the real platform, and its key. */
  readonly real: string
  readonly key: string
  readonly brand: string
  /** The way to the operator. */
  readonly operator: { readonly url: string; readonly key: string }
}

const mostCopies = 10_000

/** Enqueues records: they stay as they are. An object without `activity` gets one: its members are the content of the message. */
export async function enqueue(
  { real, key, brand }: PlatformActions,
  channel: Channel,
  body: unknown,
  text: string,
): Promise<object> {
  const elements = Array.isArray(body) ? body.map(toObject) : [toObject(body)]
  const complete = elements.filter((element) => 'activity' in element)
  if (complete.length > 0 && complete.length < elements.length)
    throw new Error('send either records with activity, or short messages with user')
  const records = complete.length > 0 ? text : JSON.stringify(elements.flatMap((element) => toRecords(element, brand)))
  return post(`${real}/admin/activities/${channel}`, key, records, 'application/json')
}

/** Enqueues a file with one record in each line. */
export function enqueueLines(
  { real, key }: PlatformActions,
  channel: Channel,
  lines: NodeJS.ReadableStream,
): Promise<object> {
  return post(`${real}/admin/activities/${channel}`, key, lines as never, 'application/x-ndjson')
}

async function post(url: string, key: string, body: string, type: string): Promise<object> {
  const answer = await requestOnce(url, {
    method: 'POST',
    headers: { 'content-type': type, [apiKeyHeader]: key },
    body,
  })
  const read = (await answer.body.json()) as { readonly error?: string }
  if (answer.statusCode !== 200) throw new Error(read.error)
  return read
}

let lastId = 0

function toRecords(short: Readonly<Record<string, unknown>>, brand: string): object[] {
  const { user, count = 1, ...content } = short
  if (typeof user !== 'string' || user === '') throw new Error('user must be a user_id as text')
  if (!Number.isSafeInteger(count) || (count as number) < 1 || (count as number) > mostCopies)
    throw new Error(`count must be a whole number from 1 to ${mostCopies}`)
  return Array.from({ length: count as number }, () => {
    // Unique also after a restart, since the operator remembers the ids.
    lastId = Math.max(lastId + 1, clock.now() * 1_000)
    const marks = { activity_id: 1, action_group_id: 1, action_id: 1, trigger_hash: `fake-${lastId}` }
    return { activity: { id: lastId, brand_id: Number(brand), user_id: user, ...marks }, ...content }
  })
}

type Texts = ReturnType<AnswerParser['push']> extends Generator<infer Piece> ? Piece : never

const limits = { idleMs: 30_000, totalMs: 300_000 }
const mostIdBytes = 1_000
const mostUsersShown = 100

/** Requests the list of a field, and reads it as the platform does. */
export async function readList({ operator }: PlatformActions, body: unknown): Promise<object> {
  const { field } = toObject(body)
  if (!reconciliationFields.includes(field as ReconciliationField))
    throw new Error(`field must be one of ${reconciliationFields.join(', ')}`)
  const parser = createAnswerParser(mostIdBytes)
  const users: string[] = []
  const keep = (piece: Texts): void => {
    if (users.length >= mostUsersShown) return
    const texts = 'texts' in piece ? piece.texts : Buffer.from(piece.lines).toString().split('\n')
    users.push(...texts.filter((text) => text !== '').slice(0, mostUsersShown))
  }
  try {
    const { url, key: apiKey } = operator
    const signal = new AbortController().signal
    const response = await requestList({ url, apiKey, field: field as ReconciliationField, ...limits, signal })
    try {
      if (!response.chunks) return { accepted: false, reason: 'no source', error: 'the operator has no source (501)' }
      for await (const chunk of response.chunks) for (const piece of parser.push(chunk)) keep(piece)
      const { texts, timestamp } = parser.end()
      for (const piece of texts) keep(piece)
      const shown = users.slice(0, mostUsersShown)
      return { accepted: true, count: parser.ids, timestamp: new Date(timestamp).toISOString(), users: shown }
    } finally {
      await response.close()
    }
  } catch (error) {
    if (!(error instanceof AnswerRefused)) throw error
    return { accepted: false, reason: error.why, error: error.message, remedy: remedies[error.why] }
  }
}
