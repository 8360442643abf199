// Settling: outcome, evidence and the provider's own rows, in one durable transaction, before anybody is answered.

import type { Flight, Message, Result } from '../providers/provider.ts'
import type { Database, Op, Statement, Value } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { arrivePiece, dropPieces, keepRequests, landFlight, touchFlight } from './flights.ts'
import { insertRefusals, settleMessages, state } from './messages.ts'

export interface Settled {
  readonly message: Message
  readonly result: Result
}

/** Rejects if the store is away: then nobody knows what was written. */
export type Settle = (settled: readonly Settled[]) => Promise<void>

/** What the successes of a flight came by: most are alike, and those need no more than a word. */
interface Course {
  readonly rule: string
  readonly call: string
}

/**
 * Settles the messages of a flight, all in one piece or in several; each message once. With the last piece the flight lands: its
 * successes need no row of their own, what ended otherwise says so. Those that are settled before the others are
 * listed as arrived. A flight of which a piece could not be written never lands: that would count it as delivered.
 *
 * @example const settle = settlement(database, flight); await settle([{ message, result }])
 */
export function settlement(database: Database, flight: Flight): Settle {
  let unsettled = flight.messages.length
  let course: Course | undefined
  const pieces: Promise<void>[] = []

  async function write(settled: readonly Settled[], last: boolean): Promise<void> {
    const lands = last && (await Promise.allSettled(pieces)).every(({ status }) => status === 'fulfilled')
    // What left brought its request's body along. What did not will come again with one, unless this is final.
    const ended = settled.filter(({ result }) => result.category !== 'fatal')
    const requests = keepRequests(ended.map(({ message }) => message))
    const { arrived, ops } = rowsOf(settled, flight, course)
    const flown = lands ? landFlight(flight, course?.call ?? '', course?.rule ?? '') : touchFlight(flight)
    const pieceOps = lands ? dropPieces(flight) : [arrivePiece(flight, arrived)]
    try {
      const [known] = await database.commit([flown, ...pieceOps, ...ops, ...requests.ops])
      if (known[0]?.taken) await winBack(database, flight, settled)
    } catch (error) {
      requests.lost()
      throw error
    }
  }

  return (settled) => {
    const success = settled.find(({ result }) => result.category === 'successful')?.result
    course ??= success && { rule: success.rule, call: success.call ?? '' }
    unsettled -= settled.length
    const last = unsettled === 0
    const written = write(settled, last)
    if (!last) pieces.push(written)
    return written
  }
}

/** Those that went as the flight says, and the rows of the others. */
function rowsOf(
  settled: readonly Settled[],
  flight: Flight,
  course: Course | undefined,
): { readonly arrived: readonly Message[]; readonly ops: readonly Op[] } {
  const now = Date.now()
  const arrived: Message[] = []
  const others: (readonly Value[])[] = []
  const refusals: (readonly Value[])[] = []
  const writes = new Map<Statement, (readonly Value[])[]>()
  for (const { message: m, result } of settled) {
    const uncertain = result.category === 'fatal' && result.uncertain ? 1 : 0
    const asItsFlight =
      result.category === 'successful' && result.rule === course?.rule && (result.call ?? '') === course.call
    if (asItsFlight) arrived.push(m)
    else others.push(outcomeRow(m, flight, result, uncertain))
    if (result.category !== 'successful' && !result.untried) {
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
    // The store would put them together too, one operation after the other: with one for each push that is 4 % of its CPU.
    for (const { statement, rows } of result.writes ?? []) {
      const same = writes.get(statement)
      if (same) same.push(...rows)
      else writes.set(statement, [...rows])
    }
  }
  const written = [...writes].map(([statement, rows]) => op(statement, rows))
  return { arrived, ops: [op(settleMessages, others), op(insertRefusals, refusals), ...written] }
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
