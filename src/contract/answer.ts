// The table of §7 in both directions: maps statuses, categories and missing entries to outcomes, and outcomes to answers.
// Pure functions, used by the operator, the platform and all code that explains a decision.

import { readBatchBody } from './batch-body.ts'
import { describeStatus } from './describe-status.ts'
import { type Channel, identifierOf } from './endpoints.ts'
import { idText } from './ids.ts'
import type { Category, Evidence, Failed, Fatal, Outcome, Reason } from './outcome.ts'
import { quote } from './quote.ts'
import { retryAfterMs } from './retry-after.ts'
import { isStatedReason, readSingleBody, type StatedReason } from './single-body.ts'
import { shortened } from './storable.ts'

/** One HTTP answer of the operator's API. */
export interface WireAnswer {
  readonly channel: Channel
  readonly status: number
  readonly body: Uint8Array | string
  /** The header Retry-After, and the time of its arrival in epoch milliseconds, to interpret an HTTP date. */
  readonly retryAfter?: string | undefined
  readonly now?: number
  /** The header Location. */
  readonly location?: unknown
}

/**
 * §7.1: 2xx is successful, 4xx is failed, all other statuses are fatal.
 *
 * @example readSingleAnswer({ channel: 'push', status: 200, body: '{"push_id":"p1"}' })
 * // { category: 'successful', ref: 'p1', rule: '§7.1 200', answer: '{"push_id":"p1"}' }
 */
export function readSingleAnswer(wire: WireAnswer): Outcome {
  const { channel, status } = wire
  const { ref, error, service, reason } = readSingleBody(wire.body, channel)
  const answer = excerptOf(wire)
  if (status >= 200 && status <= 299) {
    if (ref === undefined) return { category: 'successful', rule: untracked(`§7.1 ${status}`, channel), answer }
    return { category: 'successful', ref, rule: `§7.1 ${status}`, answer }
  }
  const rule = `§7.1 ${status}`
  const text = error ?? `the operator answered ${describeStatus(status, wire.location)}`
  const wait = retryAfterOf(wire) ?? (status === 429 ? 0 : undefined)
  const evidence = { rule, answer, ...(wait !== undefined && { retryAfterMs: wait }) }
  const why = reasonOf(status, reason)
  if (status >= 400 && status <= 499) return { category: 'failed', reason: why, error: text, ...evidence }
  // Row 59: the operator works, and a push service behind it does not.
  if (status === 503 && service !== undefined)
    return { ...fatal('message', 'unavailable', text, { rule, answer }, wait), service }
  // A 500 may be caused by this message or by an outage: the lane finds out. All other statuses are an outage.
  return fatal(status === 500 ? 'call' : 'provider', why, text, { rule, answer }, wait)
}

const untracked = (rule: string, channel: Channel): string => `${rule} without ${identifierOf[channel]} (row 6)`

export interface BatchAnswer {
  /** One outcome per sent id, in the order of `ids`. */
  readonly outcomes: readonly Outcome[]
  /** Oddities of the answer that change no outcome: unknown ids (row 10), ids in two categories (row 9) … */
  readonly warnings: readonly string[]
}

/**
 * §7.2: with status 200, each message has the outcome of its category, and a missing message is fatal. With any other status, all
 * messages are fatal.
 *
 * @param wire with `ids`: the ids as text, without duplicates (a batch never contains an id twice)
 * @example
 * readBatchAnswer({ channel: 'push', ids: ['1', '2'], status: 200, body: '{"successful":[{"id":1,"push_id":"p1"}]}' })
 * // outcomes: successful with ref p1; fatal, rule '§7.2.2 absent'
 */
export function readBatchAnswer(wire: WireAnswer & { readonly ids: readonly string[] }): BatchAnswer {
  const { channel, ids, status } = wire
  const wait = retryAfterOf(wire)
  if (status !== 200) {
    const described = describeStatus(status, wire.location)
    const error =
      readSingleBody(wire.body, channel).error ?? `the operator answered the batch with ${described}, not 200`
    const blame = splittable.has(status) ? 'call' : 'provider'
    const evidence = { rule: `§7.2.1 ${status}`, answer: excerptOf(wire) }
    return sameForAll(ids, fatal(blame, reasonOf(status), error, evidence, wait))
  }
  const read = readBatchBody(wire.body, ids, channel)
  if (typeof read === 'string') {
    const error = `the operator answered 200, but the body is not a batch response record: ${read}`
    const evidence = { rule: '§2.4 unreadable', answer: excerptOf(wire) }
    return sameForAll(ids, fatal('provider', 'nonsense', error, evidence, wait))
  }
  const { entries, warnings } = read
  // An answer without any of the messages indicates an outage of the operator.
  const blame = entries.size === 0 ? 'provider' : blameForFatal(entries.values(), ids.length)
  const missing = fatal(blame, 'absent', entries.size === 0 ? allAbsent : oneAbsent, absentRule, wait)
  const outcomes = ids.map((id): Outcome => {
    const entry = entries.get(id)
    if (entry === undefined) return missing
    const { category, ref, error, service, reason = 'rejected' } = entry
    const rule = `§7.2.2 ${category}`
    switch (category) {
      case 'successful':
        if (ref === undefined) return { category, rule: untracked(rule, channel) }
        return { category, ref, rule }
      case 'failed':
        return { category, reason, error: error ?? noReason, rule, ...(ref !== undefined && { ref }) }
      case 'fatal':
        return {
          ...fatal(service === undefined ? blame : 'message', 'unavailable', error ?? noReason, { rule }, wait),
          ...(ref !== undefined && { ref }),
          ...(service !== undefined && { service }),
        }
      default:
        return category satisfies never
    }
  })
  return { outcomes, warnings }
}

/**
 * Decides the blame for the fatal messages of an answer with status 200 (row 53). If another message was delivered, each fatal
 * message is to blame itself. If none was delivered, two or more fatal messages mean an outage behind the operator; a single one
 * may be either, and the lane finds out. A fatal message that names a push service (row 59) is the matter of that service.
 *
 * @param reported the messages in the answer
 * @param sent the number of messages in the batch
 * @example blameForFatal([{ category: 'fatal' }, { category: 'fatal' }], 2) // 'provider'
 */
export function blameForFatal(
  reported: Iterable<{ readonly category: Category; readonly service?: string | undefined }>,
  sent: number,
): Fatal['blame'] {
  let retried = sent
  for (const { category, service } of reported) {
    if (category === 'successful') return 'message'
    if (category === 'failed' || service !== undefined) retried--
  }
  return retried === 1 ? 'call' : 'provider'
}

/** Statuses that one message may cause: the batch is split to isolate it. Any other is an outage, where a split only adds requests. */
const splittable: ReadonlySet<number> = new Set([400, 413, 422, 500])
const absentRule = { rule: '§7.2.2 absent' }
const oneAbsent = 'absent from the answer'
const allAbsent = 'the operator answered 200, but the answer contains none of the sent messages'
const noReason = 'the operator gave no reason'

/** @param stated by the operator, for a message that it refused (row 61) */
function reasonOf(status: number, stated?: StatedReason): Reason {
  if (status === 413) return 'too_large'
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 504) return 'timeout'
  // Not caused by the message: a wrong key, address or redirect, which someone must correct.
  if (status === 401 || status === 403 || status === 404 || status === 405) return 'misconfigured'
  if (status >= 300 && status <= 399) return 'misconfigured'
  if (status >= 400 && status <= 499) return stated ?? 'rejected'
  if (status < 300) return 'nonsense'
  return 'unavailable'
}

function fatal(
  blame: Fatal['blame'],
  reason: Reason,
  error: string,
  { rule, answer }: Evidence,
  wait: number | undefined,
): Fatal {
  return {
    category: 'fatal',
    reason,
    error,
    blame,
    rule,
    ...(answer !== undefined && { answer }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  }
}

function sameForAll(ids: readonly string[], outcome: Outcome): BatchAnswer {
  return { outcomes: ids.map(() => outcome), warnings: [] }
}

/** The beginning of the body, for people. It is cut before decoding, because it may be long. */
function excerptOf({ body }: WireAnswer): string {
  return shortened(typeof body === 'string' ? body : Buffer.from(body.subarray(0, 2_000)).toString('utf8'))
}

function retryAfterOf({ retryAfter, now }: WireAnswer): number | undefined {
  return retryAfterMs(retryAfter, now)
}

export interface SingleAnswer {
  readonly status: 200 | 400 | 422 | 503
  readonly body: string
  readonly retryAfterSeconds?: number
}

/**
 * The operator's answer to a single request (§2.2, §2.3, §7.1). A fatal outcome is always answered 503, because with a 4xx the
 * platform would drop the message for good.
 *
 * @example singleAnswer('push', { category: 'successful', ref: 'p1', rule: 'sent' }) // { status: 200, body: '{"push_id":"p1"}' }
 */
export function singleAnswer(channel: Channel, outcome: Outcome): SingleAnswer {
  switch (outcome.category) {
    case 'successful':
      return {
        status: 200,
        body: outcome.ref === undefined ? '{}' : `{"${identifierOf[channel]}":${quote(outcome.ref)}}`,
      }
    case 'failed':
      return {
        status: outcome.reason === 'invalid' ? 400 : 422,
        body: errorBody(outcome.error, reasonMember(outcome.reason)),
      }
    case 'fatal': {
      const { error, retryAfterMs = defaultRetryAfterMs, service } = outcome
      return {
        status: 503,
        body: errorBody(error, serviceMember(service)),
        retryAfterSeconds: retryAfterSecondsOf(retryAfterMs),
      }
    }
    default:
      return outcome satisfies never
  }
}

const defaultRetryAfterMs = 5_000
/** A wrong Retry-After of a provider must not outlast the lifetime of the message. */
const longestRetryAfterMs = 10 * 60_000

const retryAfterSecondsOf = (ms: number): number => Math.max(1, Math.ceil(Math.min(ms, longestRetryAfterMs) / 1000))

/** The error record of §2.3; row 12 uses it for a batch. */
export function errorBody(error: string, member = ''): string {
  return `{"error":${JSON.stringify(error)}${member}}`
}

/** Row 61. */
const reasonMember = (reason: Reason): string => (isStatedReason(reason) ? `,"reason":"${reason}"` : '')

const serviceMember = (service: string | undefined): string =>
  service === undefined ? '' : `,"service":${quote(service)}`

export interface BatchItem {
  /** The source text of activity.id in the request. Undefined if it is missing: the item cannot be reported (row 27). */
  readonly idJson: string | undefined
  readonly outcome: Outcome
}

/**
 * The body of the operator's answer to a batch (§2.4), always with status 200: three arrays, with ids copied digit by digit from
 * the request. A duplicate id is reported once, with its worst outcome: fatal before failed before successful (row 28).
 *
 * @example batchAnswer('push', [{ idJson: '1', outcome: { category: 'successful', ref: 'p1', rule: 'sent' } }])
 * // '{"successful":[{"id":1,"push_id":"p1"}],"failed":[],"fatal":[]}'
 */
export function batchAnswer(channel: Channel, items: readonly BatchItem[]): string {
  const reported = new Map<string, BatchItem>()
  for (const item of items) {
    if (item.idJson === undefined) continue
    const id = idText(item.idJson)
    const before = reported.get(id)
    if (before === undefined || severity[item.outcome.category] > severity[before.outcome.category])
      reported.set(id, item)
  }
  const identifier = `,"${identifierOf[channel]}":`
  const texts = { successful: '', failed: '', fatal: '' }
  for (const { idJson, outcome } of reported.values()) {
    let text = `{"id":${idJson}`
    if (outcome.ref !== undefined) text += identifier + quote(outcome.ref)
    if (outcome.category !== 'successful') text += `,"error":${quote(outcome.error)}`
    if (outcome.category === 'failed') text += reasonMember(outcome.reason)
    if (outcome.category === 'fatal') text += serviceMember(outcome.service)
    texts[outcome.category] += texts[outcome.category] === '' ? `${text}}` : `,${text}}`
  }
  return `{"successful":[${texts.successful}],"failed":[${texts.failed}],"fatal":[${texts.fatal}]}`
}

/**
 * Retry-After for a batch (row 13): if all its messages are fatal because of their provider, or if some exceed a rate. The shortest
 * wait counts: after it the first message can be sent.
 */
export function batchRetryAfterSeconds(outcomes: readonly Outcome[]): number | undefined {
  const fatals = outcomes.filter((outcome) => outcome.category === 'fatal')
  const outage = fatals.length === outcomes.length && fatals.every(({ blame }) => blame === 'provider')
  const waiting = outage ? fatals : fatals.filter(({ reason }) => reason === 'rate_limited')
  const leastMs = waiting.reduce((least, { retryAfterMs = least }) => Math.min(least, retryAfterMs), Infinity)
  return Number.isFinite(leastMs) ? retryAfterSecondsOf(leastMs) : undefined
}

const severity = { successful: 0, failed: 1, fatal: 2 } as const

/** The outcome of an invalid item (§2.1): final, because a retry cannot succeed. */
export function invalidOutcome(error: string): Failed {
  return { category: 'failed', reason: 'invalid', error: shortened(error), rule: '§2.1 invalid' }
}
