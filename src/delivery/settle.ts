// Settling: outcome, evidence and the provider's own rows, in one durable transaction, before anybody is answered.

import type { Flight, Message, Result } from '../providers/provider.ts'
import type { Database, Op, Value } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { keepRequests, landFlight } from './flights.ts'
import { insertRefusals, settleMessages, state } from './messages.ts'

export interface Settled {
  readonly message: Message
  readonly result: Result
}

/** Lands the flight: its successes need no row of their own, what ended otherwise says so. */
export async function settle(
  database: Database,
  flight: Flight,
  settled: readonly Settled[],
  now: number,
): Promise<void> {
  const success = settled.find(({ result }) => result.category === 'successful')?.result
  const call = success?.call ?? ''
  const rule = success?.rule ?? ''
  const others: (readonly Value[])[] = []
  const refusals: (readonly Value[])[] = []
  const writes: Op[] = []
  for (const { message: m, result } of settled) {
    const uncertain = result.category === 'fatal' && result.uncertain ? 1 : 0
    const asItsFlight = result.category === 'successful' && result.rule === rule && (result.call ?? '') === call
    if (!asItsFlight) others.push(outcomeRow(m, flight, result, uncertain))
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
  const requests = keepRequests(settled.map(({ message }) => message))
  try {
    const [landed] = await database.commit([
      landFlight(flight, call, rule),
      op(settleMessages, others),
      op(insertRefusals, refusals),
      ...requests.ops,
      ...writes,
    ])
    if (landed[0]?.taken) await winBack(database, flight, settled)
  } catch (error) {
    requests.lost()
    throw error
  }
}

/** Another process took this one for dead and some of its messages over: those that were successful here are so for good. */
async function winBack(database: Database, flight: Flight, settled: readonly Settled[]): Promise<void> {
  const successes = settled.filter(({ result }) => result.category === 'successful')
  await database.commit([
    op(
      settleMessages,
      successes.map(({ message, result }) => outcomeRow(message, flight, result, 0)),
    ),
  ])
}

const outcomeRow = (m: Message, flight: Flight, result: Result, uncertain: number): readonly Value[] => [
  m.brand,
  m.key,
  flight.id,
  state[result.category],
  result.rule,
  result.call ?? '',
  uncertain,
]
