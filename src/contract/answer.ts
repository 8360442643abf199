// The table of §7, both directions: what a status, a category or an absence means for a message, and how an outcome is answered.
// Pure. Operator, platform and everything that explains a decision read it here.

import { readBatchBody } from './batch-body.ts'
import { type Channel, identifierOf } from './endpoints.ts'
import { idText } from './ids.ts'
import type { Category, Evidence, Failed, Fatal, Outcome, Reason } from './outcome.ts'
import { quote } from './quote.ts'
import { retryAfterMs } from './retry-after.ts'
import { readSingleBody } from './single-body.ts'
import { shortened } from './storable.ts'

/** One answer of the operator's API, as it came over the wire. */
export interface WireAnswer {
  readonly channel: Channel
  readonly status: number
  readonly body: Uint8Array | string
  /** The header Retry-After, and the epoch milliseconds when it was read (an HTTP date needs them). */
  readonly retryAfter?: string | undefined
  readonly now?: number
}

/**
 * §7.1: 2xx delivered; 4xx failed; 500 and everything else fatal.
 *
 * @example readSingleAnswer({ channel: 'push', status: 200, body: '{"push_id":"p1"}' })
 * // { category: 'successful', ref: 'p1', rule: '§7.1 200', answer: '{"push_id":"p1"}' }
 */
export function readSingleAnswer(wire: WireAnswer): Outcome {
  const { channel, status } = wire
  const { ref, error } = readSingleBody(wire.body, channel)
  const answer = answerOf(wire)
  if (status >= 200 && status <= 299) {
    if (ref === undefined) return { category: 'successful', rule: untracked(`§7.1 ${status}`, channel), answer }
    return { category: 'successful', ref, rule: `§7.1 ${status}`, answer }
  }
  const rule = `§7.1 ${status}`
  const said = error ?? `the operator answered ${status}`
  if (status >= 400 && status <= 499) return { category: 'failed', reason: reasonOf(status), error: said, rule, answer }
  // 500 may be this message's own trouble or everybody's: the lane finds out. Any other is the way to the operator.
  return fatal(status === 500 ? 'call' : 'provider', reasonOf(status), said, { rule, answer }, waitOf(wire))
}

const untracked = (rule: string, channel: Channel): string => `${rule} without ${identifierOf[channel]} (row 6)`

/** By the rule that decided: delivered, but the answer had no identifier (row 6). */
export const isUntracked = (rule: string): boolean => rule.endsWith(' (row 6)')

export interface BatchAnswer {
  /** One for each id that was sent, in the order of `ids`. */
  readonly outcomes: readonly Outcome[]
  /** What is odd about the answer but changes nothing: ids never sent (row 10), ids in two categories (row 9) … */
  readonly warnings: readonly string[]
}

/**
 * §7.2: anything but 200 repeats the whole batch; with 200 each message goes by its category, and an absent one is repeated.
 *
 * @param wire with `ids`, as text, none twice: an id is never twice in one batch
 * @example
 * readBatchAnswer({ channel: 'push', ids: ['1', '2'], status: 200, body: '{"successful":[{"id":1,"push_id":"p1"}]}' })
 * // outcomes: successful with ref p1; fatal, rule '§7.2.2 absent'
 */
export function readBatchAnswer(wire: WireAnswer & { readonly ids: readonly string[] }): BatchAnswer {
  const { channel, ids, status } = wire
  const wait = waitOf(wire)
  if (status !== 200) {
    const said = readSingleBody(wire.body, channel).error ?? `the operator answered the batch with ${status}, not 200`
    const blame = splittable.has(status) ? 'call' : 'provider'
    return same(ids, fatal(blame, reasonOf(status), said, { rule: `§7.2.1 ${status}`, answer: answerOf(wire) }, wait))
  }
  const read = readBatchBody(wire.body, ids, channel)
  if (typeof read === 'string') {
    const said = `the operator answered 200, but the answer is no batch response record: ${read}`
    return same(ids, fatal('provider', 'nonsense', said, { rule: '§2.4 unreadable', answer: answerOf(wire) }, wait))
  }
  const { entries, warnings } = read
  // Nobody is accounted for: that is no answer about messages, it is an operator in trouble.
  const blame = entries.size === 0 ? 'provider' : blameForFatal(entries.values(), ids.length)
  const missing = fatal(blame, 'absent', entries.size === 0 ? everyoneAbsent : oneAbsent, absentRule, wait)
  const outcomes = ids.map((id): Outcome => {
    const entry = entries.get(id)
    if (entry === undefined) return missing
    const { category, ref, error } = entry
    const rule = `§7.2.2 ${category}`
    switch (category) {
      case 'successful':
        if (ref === undefined) return { category, rule: untracked(rule, channel) }
        return { category, ref, rule }
      case 'failed':
        return { category, reason: 'rejected', error: error ?? noReason, rule, ...(ref !== undefined && { ref }) }
      case 'fatal':
        return {
          ...fatal(blame, 'unavailable', error ?? noReason, { rule }, wait),
          ...(ref !== undefined && { ref }),
        }
      default:
        return category satisfies never
    }
  })
  return { outcomes, warnings }
}

/**
 * The cause of messages in a 200 that must be sent again (row 53). Beside a message that was delivered, each is to blame
 * itself. Two or more, and none was delivered: an outage behind the operator. One alone may be either, and the lane finds out.
 *
 * @param reported the messages that the answer names
 * @param sent how many messages the batch had
 * @example blameForFatal([{ category: 'fatal' }, { category: 'fatal' }], 2) // 'provider'
 */
export function blameForFatal(reported: Iterable<{ readonly category: Category }>, sent: number): Fatal['blame'] {
  let again = sent
  for (const { category } of reported) {
    if (category === 'successful') return 'message'
    if (category === 'failed') again--
  }
  return again === 1 ? 'call' : 'provider'
}

/** These may be one message's fault: the batch is split until it stands alone. Any other is an outage, and splitting would multiply it. */
const splittable: ReadonlySet<number> = new Set([400, 413, 422, 500])
const absentRule = { rule: '§7.2.2 absent' }
const oneAbsent = 'absent from the answer'
const everyoneAbsent = 'the operator answered 200, but the answer accounts for none of the messages sent'
const noReason = 'the operator gave no reason'

function reasonOf(status: number): Reason {
  if (status === 413) return 'too_large'
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 504) return 'timeout'
  // Not about the message: a key, an address or a redirect that somebody must put right.
  if (status === 401 || status === 403 || status === 404 || status === 405) return 'misconfigured'
  if (status >= 300 && status <= 399) return 'misconfigured'
  if (status >= 400 && status <= 499) return 'rejected'
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

function same(ids: readonly string[], outcome: Outcome): BatchAnswer {
  return { outcomes: ids.map(() => outcome), warnings: [] }
}

/** The body, for people. Cut first: it may be long. */
function answerOf({ body }: WireAnswer): string {
  return shortened(typeof body === 'string' ? body : Buffer.from(body.subarray(0, 2_000)).toString('utf8'))
}

function waitOf({ retryAfter, now }: WireAnswer): number | undefined {
  return retryAfterMs(retryAfter, now)
}

export interface SingleAnswer {
  readonly status: 200 | 400 | 422 | 503
  readonly body: string
  readonly retryAfterSeconds?: number
}

/**
 * The operator's answer to a single request (§2.2, §2.3, §7.1). A fatal outcome is always a 503: a 4xx would make the platform drop the
 * message for good, whatever the cause.
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
      return { status: outcome.reason === 'invalid' ? 400 : 422, body: errorBody(outcome.error) }
    case 'fatal': {
      const seconds = Math.ceil((outcome.retryAfterMs ?? defaultRetryAfterMs) / 1000)
      return { status: 503, body: errorBody(outcome.error), retryAfterSeconds: Math.max(1, seconds) }
    }
    default:
      return outcome satisfies never
  }
}

const defaultRetryAfterMs = 5_000

/** §2.3, and row 12 for a batch. */
export function errorBody(error: string): string {
  return `{"error":${JSON.stringify(error)}}`
}

export interface BatchItem {
  /** activity.id as it stood in the request; undefined: there was none, the item cannot be reported (row 27). */
  readonly idJson: string | undefined
  readonly outcome: Outcome
}

/**
 * The body of the operator's answer to a batch (§2.4), always with status 200: three arrays, ids copied from the request digit by digit.
 * An id that came twice is reported once, by the worst: fatal, failed, successful (row 28).
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
    texts[outcome.category] += texts[outcome.category] === '' ? `${text}}` : `,${text}}`
  }
  return `{"successful":[${texts.successful}],"failed":[${texts.failed}],"fatal":[${texts.fatal}]}`
}

/**
 * Retry-After for a batch: only if all of its messages are fatal because their provider is away, and at least one says for how long.
 * The shortest time counts: by then the first of them can be sent.
 */
export function batchRetryAfterSeconds(outcomes: readonly Outcome[]): number | undefined {
  let leastMs = Number.POSITIVE_INFINITY
  for (const outcome of outcomes) {
    if (outcome.category !== 'fatal' || outcome.blame !== 'provider') return undefined
    if (outcome.retryAfterMs !== undefined) leastMs = Math.min(leastMs, outcome.retryAfterMs)
  }
  return Number.isFinite(leastMs) ? Math.max(1, Math.ceil(leastMs / 1000)) : undefined
}

const severity = { successful: 0, failed: 1, fatal: 2 } as const

/** An invalid item (§2.1) as an outcome: final, because no repetition will mend it. */
export function invalidOutcome(error: string): Failed {
  return { category: 'failed', reason: 'invalid', error: shortened(error), rule: '§2.1 invalid' }
}
