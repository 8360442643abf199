// Sorting out the outcomes of one call: what is settled, what comes again and how, what it says about the provider. Pure.

import type { Fatal } from '../contract/outcome.ts'
import type { Op } from '../store/database.ts'
import type { Handled } from './queue.ts'
import type { Row } from './row.ts'
import type { Settled } from './run.ts'
import type { FailedRow } from './settle.ts'
import { settledState } from './tables.ts'

export interface Sorted {
  readonly rows: Row[]
  readonly settled: Settled[]
  readonly failed: FailedRow[]
  readonly writes: Op[]
  /** To be tried again, each with its own outcome, by whose fault it was. */
  readonly again: { readonly [Blame in Fatal['blame']]: { readonly row: Row; readonly outcome: Fatal }[] }
  /** Only a working provider answers like this. */
  readonly worked: boolean
  /** A message of it was delivered. */
  readonly delivered: boolean
  /** Final outcomes in order: was it a refusal that is rarely the message's fault? */
  readonly refusals: boolean[]
}

export function sortOut(rows: readonly Row[], outcomes: readonly Handled[]): Sorted {
  const sorted: Sorted & { worked: boolean; delivered: boolean } = {
    rows: [],
    settled: [],
    failed: [],
    writes: [],
    again: { message: [], call: [], provider: [] },
    worked: false,
    delivered: false,
    refusals: [],
  }
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as Row
    const outcome = outcomes[i] as Handled
    if (outcome.writes) sorted.writes.push(...outcome.writes)
    if (outcome.category === 'fatal') {
      sorted.again[outcome.blame].push({ row, outcome })
      if (outcome.blame === 'message') sorted.worked = true
      continue
    }
    sorted.worked = true
    sorted.delivered ||= outcome.category === 'successful'
    settle(sorted, row, outcome)
    sorted.refusals.push(outcome.category === 'failed' && isRefusal(outcome))
  }
  return sorted
}

/** Adds a final outcome: a row of its own for Failed Actions where it failed. */
export function settle(
  sorted: Pick<Sorted, 'rows' | 'settled' | 'failed'>,
  row: Row,
  outcome: Exclude<Handled, Fatal>,
): void {
  const { seq, key, attempt } = row
  const { rule, call, ref } = outcome
  sorted.rows.push(row)
  if (outcome.category === 'successful') {
    sorted.settled.push({ seq, state: settledState.successful, attempt, rule, ref, call })
    return
  }
  const { reason, error, answer } = outcome
  const settled = { seq, state: settledState.failed, attempt, rule, ref, call, reason, error: error.slice(0, 500) }
  sorted.settled.push(settled)
  sorted.failed.push({ ...settled, key, answer })
}

/** 401, 403, 404 and 405 on a single: a key or an address that is wrong, more likely than a hundred bad messages. */
function isRefusal(outcome: Handled): boolean {
  return outcome.category === 'failed' && outcome.reason === 'misconfigured'
}
