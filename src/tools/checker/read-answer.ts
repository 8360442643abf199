// Reads answers for judgements. Numbers keep their source text, because an id must be returned digit by digit (§2.4).

import { type Channel, identifierOf } from '../../contract/endpoints.ts'
import type { Category } from '../../contract/outcome.ts'
import { readReason, type StatedReason } from '../../contract/single-body.ts'
import type { Answer, Exchange } from './exchange.ts'
import type { Message } from './messages.ts'
import { answerOf, briefAnswer, excerpt, Failed, isUnanswered, NotJudged, shownAnswer } from './verdict.ts'

type Fields = Readonly<Record<string, unknown>>

/** A number whose source text is not the one that JavaScript would write. */
export class ExactNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

/** Longer texts are lists of users (§2.5), which have no numbers. A reviver would take seconds for millions of users. */
const longestExact = 1_000_000

/** Parses JSON; undefined if the text is not JSON. */
export function parseExact(body: string): unknown {
  const text = body.startsWith('\ufeff') ? body.slice(1) : body
  // The types of TypeScript do not know the third parameter of a reviver yet.
  const revive = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && String(value) !== context?.source ? new ExactNumber(context?.source ?? '') : value
  const exact = text.length <= longestExact || /"(successful|failed|fatal)"/.test(text)
  try {
    return exact ? JSON.parse(text, revive as (key: string, value: unknown) => unknown) : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The source text of an id in an answer. */
export function idJsonOf(value: unknown): string {
  if (value instanceof ExactNumber) return value.source
  return JSON.stringify(value) ?? 'nothing'
}

const parsed = new WeakMap<Answer, Fields | 'none'>()

/** The body as a JSON object; undefined if it is none. */
export function objectOf(answer: Answer): Fields | undefined {
  let fields = parsed.get(answer)
  if (fields === undefined) {
    const value = answer.complete ? parseExact(answer.body) : undefined
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    fields = isObject ? (value as Fields) : 'none'
    parsed.set(answer, fields)
  }
  return fields === 'none' ? undefined : fields
}

/** The text of the error record (§2.3); undefined if the body has none. */
export function errorOf(answer: Answer): string | undefined {
  const error = objectOf(answer)?.error
  return typeof error === 'string' && error.trim() !== '' ? error : undefined
}

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status <= 299

/** Whether an answer refuses a request with this status and an error record (§2.3). */
export const refusesWith = (status: number, answer: Answer): boolean =>
  answer.status === status && errorOf(answer) !== undefined

/**
 * The answer to a message that a user can receive.
 *
 * @throws NotJudged if it was not delivered: the user may not be prepared, or the operator's provider may be unavailable
 */
export function delivered(exchange: Exchange): Answer {
  const answer = answerOf(exchange)
  if (isSuccess(answer)) return answer
  throw new NotJudged(`${exchange.label}: not delivered (${briefAnswer(answer)})`, true)
}

/** The identifier of a delivered message (§2.2), as JSON; undefined if the body has none. */
export function identifierIn(fields: Fields | undefined, channel: Channel): string | undefined {
  const value = fields?.[identifierOf[channel]]
  if (typeof value === 'string') return value === '' ? undefined : JSON.stringify(value)
  return typeof value === 'number' || value instanceof ExactNumber ? idJsonOf(value) : undefined
}

/** The identifier of a delivered single message. @throws NotJudged if it has none, which another check judges */
export function identifierOfSingle(exchange: Exchange, channel: Channel): string {
  const answer = delivered(exchange)
  const identifier = identifierIn(objectOf(answer), channel)
  if (identifier !== undefined) return identifier
  throw new NotJudged(`${exchange.label}: no ${identifierOf[channel]} in ${shownAnswer(answer)}`)
}

/**
 * The identifier of a message that an operator must deliver, because it delivered one that differs only in what the rule is about.
 *
 * @throws Failed if it was refused
 */
export function identifierOfNext(exchange: Exchange, channel: Channel): string {
  const answer = answerOf(exchange)
  if (singleOutcome(answer) === 'failed') throw new Failed(`${exchange.label}: ${shownAnswer(answer)}`)
  return identifierOfSingle(exchange, channel)
}

export interface ReportedItem {
  readonly category: Category
  /** The source text of its id; undefined if the item is no object with an id. */
  readonly idJson: string | undefined
  /** JSON. */
  readonly identifier: string | undefined
  readonly error: string | undefined
  readonly reason: StatedReason | undefined
  /** The source of the item, shortened. */
  readonly shown: string
}

export const categories = ['successful', 'failed', 'fatal'] as const

/** The answer to a batch that was processed. A success other than 200 is judged by batch.status alone. @throws NotJudged */
export function processed(exchange: Exchange): Answer {
  const answer = answerOf(exchange)
  if (isSuccess(answer)) return answer
  throw new NotJudged(`${exchange.label}: not processed (${briefAnswer(answer)})`, true)
}

/** The items of a batch answer in all categories. @throws NotJudged if the answer is no batch response record */
export function itemsIn(exchange: Exchange, channel: Channel): readonly ReportedItem[] {
  const answer = processed(exchange)
  const items = reportedItems(answer, channel)
  if (items) return items
  throw new NotJudged(`${exchange.label}: no batch response record in ${shownAnswer(answer)}`)
}

/** The items of an answer in all categories. Undefined if the answer is no batch response record. */
export function reportedItems(answer: Answer, channel: Channel): readonly ReportedItem[] | undefined {
  const fields = objectOf(answer)
  if (!fields || !categories.some((category) => Array.isArray(fields[category]))) return undefined
  return categories.flatMap((category) => {
    const list: unknown = fields[category]
    return Array.isArray(list) ? list.map((item) => readItem(category, item, channel)) : []
  })
}

function readItem(category: Category, item: unknown, channel: Channel): ReportedItem {
  const shown = excerpt(
    JSON.stringify(item, (_, value) => (value instanceof ExactNumber ? value.source : value)),
    100,
  )
  if (typeof item !== 'object' || item === null)
    return { category, idJson: undefined, identifier: undefined, error: undefined, reason: undefined, shown }
  const fields = item as Fields
  const { error } = fields
  return {
    category,
    idJson: 'id' in fields ? idJsonOf(fields.id) : undefined,
    identifier: identifierIn(fields, channel),
    error: typeof error === 'string' && error.trim() !== '' ? error : undefined,
    reason: readReason(fields.reason),
    shown,
  }
}

/** The value of an id, so that 5, "5", 5.0 and 5e0 are equal. */
export function valueOfId(idJson: string): string {
  const text = idJson.replaceAll('"', '')
  const [, whole, fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:[eE]\+?(\d{1,2}))?$/.exec(text) ?? []
  if (whole === undefined) return text
  const digits = fraction.replace(/0+$/, '')
  const zeros = Number(exponent) - digits.length
  return zeros < 0 ? text : (whole + digits + '0'.repeat(zeros)).replace(/^0+(?=\d)/, '')
}

/** The items that report a message. Ids are compared by value: batch.id judges how they are written. */
export function itemsOf(items: readonly ReportedItem[], { idJson }: Message): readonly ReportedItem[] {
  const value = valueOfId(idJson)
  return items.filter((item) => item.idJson !== undefined && valueOfId(item.idJson) === value)
}

/** The category of a message. @throws NotJudged if it is absent or in several, which other checks judge */
export function categoryOf(exchange: Exchange, message: Message, channel: Channel): ReportedItem {
  const [item, ...others] = itemsOf(itemsIn(exchange, channel), message)
  if (item && others.length === 0) return item
  throw new NotJudged(
    `${exchange.label}: message ${message.idJson} is ${item ? 'reported more than once' : 'absent from the answer'}`,
  )
}

/** The item of a message that a user can receive. @throws NotJudged if it was not delivered */
export function deliveredItem(exchange: Exchange, message: Message, channel: Channel): ReportedItem {
  const item = categoryOf(exchange, message, channel)
  if (item.category === 'successful') return item
  throw new NotJudged(`${exchange.label}: message ${message.idJson} is ${item.category}: ${item.shown}`, true)
}

/** The identifier of a delivered message of a batch. @throws NotJudged if it has none */
export function identifierOfItem(exchange: Exchange, message: Message, channel: Channel): string {
  const { identifier, shown } = deliveredItem(exchange, message, channel)
  if (identifier !== undefined) return identifier
  throw new NotJudged(`${exchange.label}: no ${identifierOf[channel]} in ${shown}`)
}

/** What the platform does after an answer to a single message (§7.1). */
export function singleOutcome(answer: Answer): Category {
  if (isSuccess(answer)) return 'successful'
  return answer.status >= 400 && answer.status <= 499 ? 'failed' : 'fatal'
}

/** Whether an answer says that a message was delivered. A batch response record without an item in successful does not. */
export function reportsDelivery(answer: Answer): boolean {
  const fields = objectOf(answer)
  const isRecord = categories.some((category) => Array.isArray(fields?.[category]))
  const { successful = [] } = fields ?? {}
  return isSuccess(answer) && !(isRecord && Array.isArray(successful) && successful.length === 0)
}

/** @throws Failed if the answer says that a message was delivered. A closed connection does not say so. */
export function expectNotDelivered(exchange: Exchange): void {
  if (isUnanswered(exchange)) return
  const answer = answerOf(exchange)
  if (reportsDelivery(answer)) throw new Failed(`${exchange.label}: ${shownAnswer(answer)}`)
}
