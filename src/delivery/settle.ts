// Settling: outcome, evidence and the provider's own rows, in one durable transaction, before anybody is answered.

import type { Message, Result } from '../providers/provider.ts'
import type { Database, Op } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { bodyRow } from './depart.ts'
import { insertBodies, insertRefusals, settleMessages, state } from './messages.ts'

export interface Settled {
  readonly message: Message
  readonly result: Result
}

export async function settle(
  database: Database,
  settled: readonly Settled[],
  transactional: boolean,
  now: number,
): Promise<void> {
  const messages: (string | number | null)[][] = []
  const refusals: (string | number | null)[][] = []
  const bodies: (string | number | null)[][] = []
  const writes: Op[] = []
  for (const { message: m, result } of settled) {
    const uncertain = result.category === 'fatal' && result.uncertain ? 1 : 0
    messages.push([m.brand, m.key, m.attempt, state[result.category], result.rule, result.call ?? '', uncertain])
    // What departed has its body already.
    if (transactional || result.category !== 'successful') bodies.push(bodyRow(m, 0, now))
    if (result.category !== 'successful') {
      refusals.push([
        m.brand,
        m.ref,
        m.attempt,
        now,
        result.category,
        result.reason,
        result.error,
        result.rule,
        result.answer ?? null,
        result.call ?? null,
        uncertain,
      ])
    }
    if (result.writes) writes.push(...result.writes)
  }
  const ops: Op[] = [op(settleMessages, messages)]
  if (bodies.length > 0) ops.push(op(insertBodies, bodies))
  if (refusals.length > 0) ops.push(op(insertRefusals, refusals))
  await database.commit([...ops, ...writes])
}
