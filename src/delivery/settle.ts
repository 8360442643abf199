// Settling: outcome, evidence and the provider's own rows, in one durable transaction, before anybody is answered.

import type { Message, Result } from '../providers/provider.ts'
import type { Database, Op, Statement, Value } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { settleLateSuccesses, settleMessages } from './messages.ts'
import { insertRefusals, refusalRow } from './refusals.ts'

export interface Settled {
  readonly message: Message
  readonly result: Result
}

/**
 * Settles messages that this process claimed as `owner`, each once. Rejects if the store is away: then it is unknown whether
 * the settle was written, and the next attempt finds the claim in flight and takes it over.
 */
export async function settle(database: Database, owner: string, settled: readonly Settled[]): Promise<void> {
  const now = Date.now()
  await database.commit([op(settleMessages, toRuns(settled, owner, now)), ...evidenceOf(settled, now)])
  // While the session that claimed lives, no process takes over. After its end a success is written all the same.
  if (database.owner !== owner) await database.commit([op(settleLateSuccesses, lateRows(settled, now))])
}

/**
 * Messages that came one after the other in a request, with the same outcome, share a row: their identifiers are consecutive.
 * A batch that went well is one row.
 */
function toRuns(settled: readonly Settled[], owner: string, now: number): Value[][] {
  const runs: Value[][] = []
  const ordered = settled.length === 1 ? settled : [...settled].sort((a, b) => (a.message.ref < b.message.ref ? -1 : 1))
  let last: Settled | undefined
  let run: Value[] | undefined
  for (const each of ordered) {
    const { message: m, result } = each
    if (run && last && follows(last, each)) run[1] = m.ref
    else {
      const { category, rule, call = null } = result
      const error = result.category === 'successful' ? null : result.error
      run = [m.ref, m.ref, owner, m.attempt, category, rule, error, call, uncertainty(result), now]
      runs.push(run)
    }
    last = each
  }
  return runs
}

function follows(a: Settled, b: Settled): boolean {
  const [one, two] = [a.message, b.message]
  return (
    one.part !== undefined &&
    one.part.of === two.part?.of &&
    one.part.position + 1 === two.part.position &&
    one.brand === two.brand &&
    one.attempt === 1 &&
    two.attempt === 1 &&
    a.result.category === 'successful' &&
    b.result.category === 'successful' &&
    a.result.rule === b.result.rule &&
    a.result.call === b.result.call
  )
}

/** Refusals, and the rows that the provider wants written. */
function evidenceOf(settled: readonly Settled[], now: number): Op[] {
  const refusals: (readonly Value[])[] = []
  const writes = new Map<Statement, (readonly Value[])[]>()
  for (const { message, result } of settled) {
    if (result.category !== 'successful' && !result.untried)
      refusals.push(refusalRow(message, result, uncertainty(result), now))
    // The store would put them together too, one operation after the other: with one for each push that is 4 % of its CPU.
    for (const { statement, rows } of result.writes ?? []) {
      const same = writes.get(statement)
      if (same) same.push(...rows)
      else writes.set(statement, [...rows])
    }
  }
  return [op(insertRefusals, refusals), ...[...writes].map(([statement, rows]) => op(statement, rows))]
}

function lateRows(settled: readonly Settled[], now: number): Value[][] {
  return settled
    .filter(({ result }) => result.category === 'successful')
    .map(({ message: { ref }, result: { rule, call = null } }) => [ref, rule, call, now])
}

const uncertainty = (result: Result): 0 | 1 => (result.category === 'fatal' && result.uncertain ? 1 : 0)
