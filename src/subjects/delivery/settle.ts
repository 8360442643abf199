// Settling: outcome, evidence and the provider's own rows, in one durable transaction, before the caller is answered.

import { clock } from '../../base/runtime/clock.ts'
import type { Database, Op, Statement, Value } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import type { Message, Result } from '../providers/provider.ts'
import { settleLateSuccesses, settleMessages } from './messages.ts'
import { type Permission, type StoredBasis, storeBases } from './permission.ts'
import { insertRefusals, refusalRow } from './refusals.ts'

export interface Settled {
  readonly message: Message
  readonly result: Result
  /** The check that decided. Absent: the message was not checked. */
  readonly permission?: Permission | undefined
}

/** Further operations that are committed with the settle of these messages, such as their delivery statuses. */
export type SettledOps = (settled: readonly Settled[]) => readonly Op[]

/**
 * Settles messages that this process claimed as `owner`, each once. Rejects if the store is unavailable. Then it is unknown
 * whether the settle was written: the next attempt finds the claim in flight and takes it over.
 */
export async function settle(
  database: Database,
  owner: string,
  settled: readonly Settled[],
  settledOps: SettledOps = () => [],
): Promise<void> {
  const now = clock.now()
  const [bases, noteStored] = storeBases(database, basesOf(settled))
  await database.commit([
    op(settleMessages, toRuns(settled, owner, now)),
    bases,
    ...evidenceOf(settled, now),
    ...settledOps(settled),
  ])
  noteStored()
  // Only after the session that claimed has ended, another process may have taken over. A success is written even then.
  if (database.owner !== owner) await database.commit([op(settleLateSuccesses, lateRows(settled, now))])
}

/**
 * Neighbours in a request that succeeded in the same way share an input row, because their identifiers are consecutive. A batch
 * in which each message succeeded is one row.
 */
function toRuns(settled: readonly Settled[], owner: string, now: number): Value[][] {
  const runs: Value[][] = []
  const ordered = settled.length === 1 ? settled : [...settled].sort((a, b) => (a.message.ref < b.message.ref ? -1 : 1))
  let last: Settled | undefined
  let run: Value[] | undefined
  for (const each of ordered) {
    const { message: m, result } = each
    if (run && last && continuesRun(last, each)) run[1] = m.ref
    else {
      const { category, rule, call = null } = result
      const error = result.category === 'successful' ? null : result.error
      const end = [category, rule, error, call, uncertainty(result), now]
      run = [m.ref, m.ref, owner, m.attempt, ...end, ...permissionColumns(each)]
      runs.push(run)
    }
    last = each
  }
  return runs
}

function continuesRun(last: Settled, next: Settled): boolean {
  const [a, b] = [last.message, next.message]
  return (
    a.part !== undefined &&
    a.part.of === b.part?.of &&
    a.part.position + 1 === b.part.position &&
    a.brand === b.brand &&
    a.attempt === 1 &&
    b.attempt === 1 &&
    last.result.category === 'successful' &&
    next.result.category === 'successful' &&
    last.result.rule === next.result.rule &&
    last.result.call === next.result.call &&
    last.permission === next.permission
  )
}

/** The refusals, and the rows of the provider. */
function evidenceOf(settled: readonly Settled[], now: number): Op[] {
  const refusals: (readonly Value[])[] = []
  const writes = new Map<Statement, (readonly Value[])[]>()
  for (const { message, result } of settled) {
    if (result.category !== 'successful' && !result.untried)
      refusals.push(refusalRow(message, result, uncertainty(result), now))
    // The store would merge these operations too, but one at a time: with one operation for each push that takes 4 % of its CPU.
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
    .map((each) => [each.message.ref, each.result.rule, each.result.call ?? null, now, ...permissionColumns(each)])
}

const permissionColumns = ({ permission: p }: Settled): Value[] =>
  p ? [p.basis.id, p.readAt, p.asOf] : [null, null, null]

function basesOf(settled: readonly Settled[]): StoredBasis[] {
  const bases: StoredBasis[] = []
  for (const { permission } of settled)
    if (permission && permission.basis !== bases.at(-1)) bases.push(permission.basis)
  return bases
}

const uncertainty = (result: Result): 0 | 1 => (result.category === 'fatal' && result.uncertain ? 1 : 0)
