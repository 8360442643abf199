// Classifies the outcomes of one call: final, or fatal and by whose fault, and whether the provider works. Pure.

import type { Failed, Fatal } from '../../../contract/outcome.ts'
import { refuseFailed } from '../../../contract/refusals.ts'
import type { Op } from '../../store/database.ts'
import type { HandledOutcome } from '../queue.ts'
import { settledState } from '../tables.ts'
import type { BufferedItem } from './buffered-item.ts'
import type { FailedRow, FinalItem } from './settle-ops.ts'

export interface FatalItem {
  readonly item: BufferedItem
  readonly outcome: Fatal
}

export interface ClassifiedOutcomes {
  readonly final: readonly FinalItem[]
  readonly fatal: { readonly [Blame in Fatal['blame']]: readonly FatalItem[] }
  readonly writes: readonly Op[]
  /** Whether only a working provider gives this answer. */
  readonly worked: boolean
  readonly delivered: boolean
  /** A failed outcome with which the operator asked for a pause. */
  readonly pauseAsked: Failed | undefined
  /** For each final outcome, in order: whether it is a refusal that is rarely the message's fault. */
  readonly refusals: readonly boolean[]
}

export function classifyOutcomes(
  items: readonly BufferedItem[],
  outcomes: readonly HandledOutcome[],
): ClassifiedOutcomes {
  const final: FinalItem[] = []
  const fatal: { readonly [Blame in Fatal['blame']]: FatalItem[] } = { message: [], call: [], provider: [] }
  const writes: Op[] = []
  const refusals: boolean[] = []
  let delivered = false
  let pauseAsked: Failed | undefined
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as BufferedItem
    const outcome = outcomes[i] as HandledOutcome
    if (outcome.writes) writes.push(...outcome.writes)
    if (outcome.category === 'fatal') {
      fatal[outcome.blame].push({ item, outcome })
      continue
    }
    delivered ||= outcome.category === 'successful'
    if (outcome.category === 'failed' && outcome.retryAfterMs !== undefined) pauseAsked = outcome
    final.push(finalItem(item, outcome))
    refusals.push(isRefusal(outcome))
  }
  const worked = final.length > 0 || fatal.message.length > 0
  return { final, fatal, writes, worked, delivered, pauseAsked, refusals }
}

/** An item with its final outcome. If it failed, `failed` is its row for Failed Actions. */
export function finalItem(item: BufferedItem, outcome: Exclude<HandledOutcome, Fatal>): FinalItem {
  const { seq, key, attempt } = item
  const { rule, call, ref } = outcome
  if (outcome.category === 'successful')
    return { item, settled: { seq, state: settledState.successful, attempt, rule, ref, call } }
  const { reason, error, answer, status } = outcome
  const settled = { seq, state: settledState.failed, attempt, rule, ref, call, reason, error: error.slice(0, 500) }
  const failed: FailedRow = { ...settled, key, answer, status }
  return { item, settled, failed }
}

/** An item that fails before its next attempt. Its outcome has the attempts that it has had. */
export function failedItem(item: BufferedItem, outcome: Failed): FinalItem {
  return { ...finalItem({ ...item, attempt: item.attempt - 1 }, outcome), item }
}

export function expiredItem(item: BufferedItem): FinalItem {
  const at = new Date(item.expiresAt ?? 0).toISOString()
  const outcome = refuseFailed('expired_in_queue', { error: `not sent: the message expired at ${at} while it waited` })
  return failedItem(item, outcome)
}

/** 401, 403, 404 or 405 on a single request: a wrong key or address is more likely than a hundred bad messages. */
function isRefusal(outcome: HandledOutcome): boolean {
  return outcome.category === 'failed' && outcome.reason === 'misconfigured'
}
