// A request of a platform as it arrived, and the checker's reply to it. Judgements read only these records.

import type { Exchange, SentRequest } from '../exchange.ts'
import type { Message } from '../messages.ts'
import { idJsonOf, parseExact } from '../read-answer.ts'
import type { Feature } from '../target.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The outcome of a message in a reply. `retry`: no outcome, so that the message must be sent again (§7). */
export type Given = 'successful' | 'failed' | 'fatal' | 'absent' | 'retry'

export interface Reply {
  /** Absent: the connection is reset, or the request is never answered. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The time before the answer. */
  readonly delayMs?: number
  /** The pause between the two halves of the body. */
  readonly streamMs?: number
  /** reset: before the answer. body: within the body of the answer. hang: no answer, until the platform closes the connection. */
  readonly cut?: 'reset' | 'body' | 'hang'
  readonly given: (message: ReceivedMessage) => Given
}

/** An element of a request that has a record of this run. */
export interface ReceivedMessage {
  /** The record that was enqueued. */
  readonly record: Message
  /** The source text of activity.id, as it arrived. */
  readonly idJson: string
  readonly element: Fields
  /** How often the record has arrived, with this request. */
  readonly attempt: number
}

export interface PlatformRequest extends SentRequest {
  readonly label: string
  readonly feature: Feature
  /** The parsed body, with exact numbers; undefined if it is not JSON. */
  readonly value: unknown
  readonly messages: readonly ReceivedMessage[]
  /** Elements that the checker did not write. */
  readonly strangers: number
  /** When it had arrived, in milliseconds of the monotonic clock. */
  readonly at: number
  readonly startedAt: number
  readonly reply: Reply
  /** When the reply was written, or the connection was closed. Absent: still open. */
  readonly endedAt?: number
  /** The platform closed the connection before the reply was written. */
  readonly closed?: true
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export interface ReadBody {
  readonly value: unknown
  readonly elements: readonly Fields[]
}

const bodies = new WeakMap<object, ReadBody>()

/** The elements of the body of a request, which is parsed once. */
export function bodyOf(arrived: { readonly body: string }): ReadBody {
  const read = bodies.get(arrived) ?? readBody(arrived.body)
  bodies.set(arrived, read)
  return read
}

/** The elements of a body that are objects. */
export function readBody(body: string): ReadBody {
  const value = parseExact(body)
  return { value, elements: (Array.isArray(value) ? value : [value]).filter(isObject) }
}

export const activityOf = ({ activity }: Fields): Fields => (isObject(activity) ? activity : {})
export const idOf = (element: Fields): string => idJsonOf(activityOf(element).id)

/** The exchange of a request, for the report. */
export function exchangeOf(request: PlatformRequest): Exchange {
  const { label, method, url, headers, key, keyHeader, body, startedAt, at, endedAt = at, reply, closed } = request
  const { status, cut } = reply
  const shown = {
    label,
    request: { method, url, headers, key, keyHeader, body },
    startedAt,
    ms: Math.round(endedAt - at),
  }
  if (closed) return { ...shown, lost: lost('the platform closed the connection before the answer') }
  if (cut === 'hang') return { ...shown, lost: lost('the checker did not answer, on purpose') }
  if (cut === 'reset' || status === undefined)
    return { ...shown, lost: lost('the checker reset the connection instead of answering, on purpose') }
  const answer = { status, headers: reply.headers ?? {}, body: reply.body ?? '', complete: cut !== 'body' }
  return { ...shown, answer, ...(cut === 'body' && { lost: lost('the checker cut the connection within the answer') }) }
}

const lost = (detail: string) => ({ how: 'cut', detail, blame: 'connection' }) as const
